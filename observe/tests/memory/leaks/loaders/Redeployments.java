import java.io.InputStream;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Leaks the sixth part of its redeployments: most old loaders are garbage, with their classes,
 * arrays of these classes and singletons; some stay by an exception that a list of errors keeps.
 */
public final class Redeployments {
  private static final List<Throwable> LAST_ERRORS = new ArrayList<>();

  /** An application: its singleton, its exceptions and its entities. */
  public static final class Application {
    static final Application INSTANCE = new Application();

    private final Map<String, Object> beans = new LinkedHashMap<>();
    private final Application[] self = {this};

    private Application() {
      for (int i = 0; i < 2_000; i++) {
        beans.put("bean" + i, new StringBuilder("a bean of some text, number ").append(i));
      }
    }

    public static Object start() {
      return INSTANCE.self;
    }
  }

  /** An exception whose class only its own loader knows. */
  public static final class ApplicationException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient Object application = Application.start();

    @Override
    public String getMessage() {
      return "failed in " + Array.getLength(application) + " applications";
    }
  }

  private static final class Loader extends ClassLoader {
    Loader() {
      super(Redeployments.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("Redeployments$Application")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      try (InputStream in = Redeployments.class.getResourceAsStream(name + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (java.io.IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 60; i++) {
      Class<?> type = new Loader().loadClass("Redeployments$ApplicationException");
      RuntimeException error = (RuntimeException) type.getConstructor().newInstance();
      if (i % 6 == 0) {
        LAST_ERRORS.add(error);
      }
    }
    System.out.println("ready");
    System.in.read();
  }
}
