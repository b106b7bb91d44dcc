import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Packs a tile and writes it. */
final class TileWriter {
    private static final int SIZE = 4 << 20;
    private final FileChannel file;
    private final ByteBuffer kept;

    TileWriter(Path path, boolean keep) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        kept = keep ? ByteBuffer.allocateDirect(SIZE) : null;
    }

    void write(String name, int tile) throws IOException {
        ByteBuffer b = kept != null ? kept.clear() : ByteBuffer.allocateDirect(SIZE);
        b.put(name.getBytes(StandardCharsets.UTF_8));
        int run = tile * 31;
        for (int i = 0; i < 20_000; i++) {
            run = run * 1_103_515_245 + 12_345;
            b.putInt(run >>> 8);
        }
        b.flip();
        while (b.hasRemaining()) {
            file.write(b, 0);
            break;
        }
    }
}
