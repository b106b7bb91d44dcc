import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Leaks class loaders: each reload of a plug-in defines its classes anew, and one hook of each
 * version stays in the registry of the host, which keeps the loader, its classes and their statics.
 */
public final class PluginReloads {
  static final class HookRegistry {
    private static final List<Runnable> HOOKS = new ArrayList<>();
  }

  /** A plug-in with a dictionary in a static field. */
  public static final class Plugin implements Runnable {
    private static final Map<Integer, String> DICTIONARY = new HashMap<>();

    public Plugin() {
      for (int i = 0; i < 2_500; i++) {
        DICTIONARY.put(i, "term number " + i);
      }
    }

    @Override
    public void run() {
      DICTIONARY.clear();
    }
  }

  static final class PluginLoader extends ClassLoader {
    private final String version;

    PluginLoader(String version) {
      super(PluginReloads.class.getClassLoader());
      this.version = version;
    }

    Class<?> define(String name) throws Exception {
      try (InputStream in = PluginReloads.class.getResourceAsStream(name + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      }
    }

    @Override
    public String toString() {
      return "plug-in " + version;
    }
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 60; i++) {
      Class<?> type = new PluginLoader("1.0." + i).define("PluginReloads$Plugin");
      HookRegistry.HOOKS.add((Runnable) type.getConstructor().newInstance());
    }
    System.out.println("ready");
    System.in.read();
  }
}
