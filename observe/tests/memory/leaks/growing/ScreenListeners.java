import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Leaks closed screens: each one adds an inner class to the listeners of the only bus, and never
 * removes it. The listener itself is small; the screen behind {@code this$0} is not.
 */
public final class ScreenListeners {
  interface ThemeListener {
    void themeChanged(String name);
  }

  static final class ThemeBus {
    static final ThemeBus INSTANCE = new ThemeBus();
    private final List<ThemeListener> listeners = new CopyOnWriteArrayList<>();

    void add(ThemeListener listener) {
      listeners.add(listener);
    }
  }

  static final class Screen {
    private final String title;
    private final int[] pixels = new int[96 * 64];
    private String theme = "light";

    Screen(String title) {
      this.title = title;
      pixels[title.length()] = title.hashCode();
      ThemeBus.INSTANCE.add(new Repaint());
    }

    private final class Repaint implements ThemeListener {
      @Override
      public void themeChanged(String name) {
        theme = title + name;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Screen open = null;
    for (int i = 0; i < 1_500; i++) {
      open = new Screen("Invoice " + i);
    }
    System.out.println("ready " + open.theme);
    System.in.read();
  }
}
