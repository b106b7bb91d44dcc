import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Allocates in one of several shapes for some seconds: `Churn SHAPE SECONDS`. */
public final class Churn {
    static volatile Object sink;
    private static final List<Object> kept = new ArrayList<>();

    /** A loader whose classes can be unloaded with it. */
    private static final class Loader extends ClassLoader {
        Class<?> define(String name) throws Exception {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeShort(0);
            out.writeShort(49);
            out.writeShort(5);
            out.writeByte(7);
            out.writeShort(2);
            out.writeByte(1);
            out.writeUTF(name);
            out.writeByte(7);
            out.writeShort(4);
            out.writeByte(1);
            out.writeUTF("java/lang/Object");
            out.writeShort(0x21);
            out.writeShort(1);
            out.writeShort(3);
            for (int i = 0; i < 4; i++) {
                out.writeShort(0);
            }
            byte[] code = bytes.toByteArray();
            return defineClass(name, code, 0, code.length);
        }
    }

    private static void shortLived(int n) {
        for (int i = 0; i < 1000; i++) {
            sink = new byte[100 + (n + i) % 900];
        }
    }

    public static void main(String[] words) throws Exception {
        String shape = words[0];
        long end = System.nanoTime() + (long) (Double.parseDouble(words[1]) * 1e9);
        Map<Integer, byte[]> cache = new HashMap<>();
        for (int n = 0; System.nanoTime() < end; n++) {
            shortLived(n);
            switch (shape) {
                case "short" -> { }
                case "cache" -> cache.put(n % 20_000, new byte[1000]);
                case "leak" -> {
                    if (n % 8 == 0) {
                        kept.add(new byte[2000]);
                    }
                }
                case "humongous" -> {
                    if (n % 20 == 0) {
                        sink = new byte[3 << 20];
                    }
                }
                case "system" -> {
                    if (n % 2000 == 0) {
                        System.gc();
                    }
                }
                case "classes" -> {
                    Loader loader = new Loader();
                    for (int i = 0; i < 3; i++) {
                        sink = loader.define("Made" + i);
                    }
                    kept.add(loader);
                    if (kept.size() > 3000) {
                        kept.clear();
                    }
                }
                default -> throw new IllegalArgumentException(shape);
            }
        }
        System.out.println("done");
    }
}
