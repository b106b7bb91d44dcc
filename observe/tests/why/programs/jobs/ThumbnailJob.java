import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/** Makes thumbnails: paints a picture, halves it, sharpens it, reduces its colours, packs it. ThumbnailJob SECONDS */
public final class ThumbnailJob {
  private static final int SIDE = 256;
  private static final int HALF = SIDE / 2;

  private final LongAdder made = new LongAdder();

  private static int mean(int a, int b) {
    return ((a ^ b) & 0xFEFEFE) / 2 + (a & b);
  }

  static void paint(int[] pixels, SplittableRandom random) {
    int colour = random.nextInt(0x1000000);
    for (int i = 0; i < pixels.length; i++) {
      if ((i & 7) == 0) {
        colour = (colour * 1103515245 + 12345) & 0xFFFFFF;
      }
      pixels[i] = colour ^ (i & 0x0F0F0F);
    }
  }

  static void halve(int[] pixels, int[] half) {
    for (int y = 0; y < HALF; y++) {
      for (int x = 0; x < HALF; x++) {
        int at = 2 * y * SIDE + 2 * x;
        half[y * HALF + x] = mean(mean(pixels[at], pixels[at + 1]), mean(pixels[at + SIDE], pixels[at + SIDE + 1]));
      }
    }
  }

  static void sharpen(int[] half, int[] sharp) {
    for (int i = HALF + 1; i < half.length - HALF - 1; i++) {
      int around = mean(mean(half[i - 1], half[i + 1]), mean(half[i - HALF], half[i + HALF]));
      int green = 2 * (half[i] >> 8 & 0xFF) - (around >> 8 & 0xFF);
      sharp[i] = (half[i] & 0xFF00FF) | Math.max(0, Math.min(255, green)) << 8;
    }
  }

  static void reduce(int[] sharp, byte[] indices) {
    for (int i = 0; i < sharp.length; i++) {
      int p = sharp[i];
      indices[i] = (byte) ((p >> 21 & 7) << 5 | (p >> 13 & 7) << 2 | (p >> 6 & 3));
    }
  }

  static int pack(byte[] indices, byte[] packed) {
    int n = 0;
    for (int i = 0; i < indices.length; ) {
      int start = i;
      while (i < indices.length && indices[i] == indices[start] && i - start < 127) {
        i++;
      }
      packed[n++] = (byte) (i - start);
      packed[n++] = indices[start];
    }
    return n;
  }

  private void run(int worker) {
    SplittableRandom random = new SplittableRandom(worker);
    int[] pixels = new int[SIDE * SIDE];
    int[] half = new int[HALF * HALF];
    int[] sharp = new int[HALF * HALF];
    byte[] indices = new byte[HALF * HALF];
    byte[] packed = new byte[2 * HALF * HALF];
    CRC32 check = new CRC32();
    while (true) {
      paint(pixels, random);
      halve(pixels, half);
      sharpen(half, sharp);
      reduce(sharp, indices);
      check.update(packed, 0, pack(indices, packed));
      if (check.getValue() != 0) {
        made.increment();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    ThumbnailJob job = new ThumbnailJob();
    for (int i = 1; i <= 2; i++) {
      int worker = i;
      Thread thread = new Thread(() -> job.run(worker), "thumbnails-" + worker);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(2000);
    System.out.println("ready");
    long before = job.made.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.made.sum() - before, seconds);
  }
}
