package image;

import java.io.IOException;
import java.nio.file.*;
import java.util.*;

class Catalog {
    static final int WIDTH = 1200, HEIGHT = 800;
    private final List<Path> files = new ArrayList<>();
    final Map<Integer, List<String>> tags = new HashMap<>();

    Catalog(Path dir, int images) throws IOException {
        Random rnd = new Random(5);
        for (int i = 0; i < images; i++) {
            byte[] raw = new byte[WIDTH * HEIGHT * 3];
            rnd.nextBytes(raw);
            files.add(Files.write(dir.resolve("img-" + i + ".raw"), raw));
        }
        for (int i = 0; i < 80_000; i++) {
            List<String> t = new ArrayList<>();
            for (int k = 0; k < 3; k++) t.add("tag-" + rnd.nextInt(1_000_000));
            tags.put(i, t);
        }
    }

    Path file(int id) {
        return files.get(id % files.size());
    }
}
