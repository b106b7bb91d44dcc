package museum;

import java.util.*;

class Guide {
    public record Piece(int id, String title, int year) { }

    private final List<List<Piece>> rooms = new ArrayList<>();
    private final Map<Integer, Integer> visits = new TreeMap<>();

    Guide(int n) {
        Random r = new Random(1);
        for (int i = 0; i < n; i++) {
            List<Piece> room = new ArrayList<>();
            for (int k = 0; k < 12; k++) room.add(new Piece(i * 100 + k, "Still life " + k, 1500 + r.nextInt(450)));
            rooms.add(room);
        }
    }

    synchronized void visit(int room) {
        visits.merge(room % rooms.size(), 1, Integer::sum);
    }

    List<Piece> room(int room) {
        return rooms.get(room % rooms.size());
    }
}
