package press;

import java.util.concurrent.BlockingQueue;

class TileSource implements Runnable {
    private final BlockingQueue<byte[]> out;

    TileSource(BlockingQueue<byte[]> out) {
        this.out = out;
    }

    @Override
    public void run() {
        try {
            for (int n = 0; ; n++) out.put(render(n));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private byte[] render(int n) {
        byte[] tile = new byte[256 * 256 * 3];
        int seed = n * 7919;
        for (int i = 0; i < tile.length; i++) {
            seed = seed * 1103515245 + 12345;
            tile[i] = (byte) ((i / 768 ^ n) + (seed >>> 28));
        }
        return tile;
    }
}
