package press;

import java.io.*;
import java.nio.file.*;
import java.util.concurrent.BlockingQueue;
import org.apache.commons.compress.archivers.tar.*;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;

class TilePacker implements Runnable {
    private final BlockingQueue<byte[]> in;
    private final Path path;

    TilePacker(BlockingQueue<byte[]> in, Path path) {
        this.in = in;
        this.path = path;
    }

    @Override
    public void run() {
        try {
            while (true) pack(2_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void pack(int tiles) throws IOException, InterruptedException {
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new GzipCompressorOutputStream(
                new BufferedOutputStream(Files.newOutputStream(path), 1 << 18)))) {
            for (int i = 0; i < tiles; i++) {
                byte[] tile = in.take();
                TarArchiveEntry e = new TarArchiveEntry("tile-" + i + ".rgb");
                e.setSize(tile.length);
                tar.putArchiveEntry(e);
                tar.write(tile);
                tar.closeArchiveEntry();
                Main.tiles.increment();
            }
        }
    }
}
