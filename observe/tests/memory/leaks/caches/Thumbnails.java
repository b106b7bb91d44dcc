import java.lang.ref.SoftReference;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keeps pictures by soft references, which stay until the heap is full; and leaves much garbage
 * beside them, the files from which they were made.
 */
public final class Thumbnails {
  private final Map<String, SoftReference<short[]>> byFile =
      new LinkedHashMap<>(16, 0.75f, true);

  private static short[] scale(byte[] file) {
    short[] small = new short[file.length / 16];
    for (int i = 0; i < small.length; i++) {
      small[i] = file[i * 16];
    }
    return small;
  }

  private void load(String name) {
    byte[] file = new byte[16_384];
    for (int i = 0; i < file.length; i++) {
      file[i] = (byte) (i * name.length());
    }
    byFile.put(name, new SoftReference<>(scale(file)));
  }

  public static void main(String[] args) throws Exception {
    Thumbnails thumbnails = new Thumbnails();
    for (int i = 0; i < 12_000; i++) {
      thumbnails.load("holiday/IMG_" + i + ".JPG");
    }
    System.out.println("ready");
    System.in.read();
    System.out.println(thumbnails.byFile.size());
  }
}
