package freight;

import java.util.Random;
import org.jgrapht.Graph;
import org.jgrapht.alg.shortestpath.DijkstraShortestPath;
import org.jgrapht.graph.*;

class RoadNetwork {
    private final Graph<Integer, DefaultWeightedEdge> graph = new SimpleWeightedGraph<>(DefaultWeightedEdge.class);

    static RoadNetwork grid(int w, int h, int seed) {
        RoadNetwork n = new RoadNetwork();
        Random rnd = new Random(seed);
        for (int i = 0; i < w * h; i++) n.graph.addVertex(i);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                if (x + 1 < w) n.road(y * w + x, y * w + x + 1, 1 + rnd.nextInt(30));
                if (y + 1 < h) n.road(y * w + x, y * w + x + w, 1 + rnd.nextInt(30));
            }
        return n;
    }

    private void road(int a, int b, double km) {
        graph.setEdgeWeight(graph.addEdge(a, b), km);
    }

    int size() {
        return graph.vertexSet().size();
    }

    double distance(int from, int to) {
        return new DijkstraShortestPath<>(graph).getPathWeight(from, to);
    }
}
