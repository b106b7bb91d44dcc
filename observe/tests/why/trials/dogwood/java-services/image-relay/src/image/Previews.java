package image;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.function.Supplier;

class Previews {
    private final Catalog catalog;
    private final Supplier<ByteBuffer> buffers;

    Previews(Catalog catalog, Supplier<ByteBuffer> buffers) {
        this.catalog = catalog;
        this.buffers = buffers;
    }

    byte[] of(int id) throws IOException {
        ByteBuffer raw = buffers.get();
        try (FileChannel in = FileChannel.open(catalog.file(id))) {
            while (raw.hasRemaining() && in.read(raw) >= 0) { }
        }
        return shrink(raw, 8);
    }

    private byte[] shrink(ByteBuffer raw, int by) {
        int w = Catalog.WIDTH / by, h = Catalog.HEIGHT / by;
        byte[] out = new byte[w * h];
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int at = ((y * by) * Catalog.WIDTH + x * by) * 3;
                out[y * w + x] = (byte) ((raw.get(at) * 3 + raw.get(at + 1) * 6 + raw.get(at + 2)) / 10);
            }
        return out;
    }
}
