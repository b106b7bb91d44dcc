import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Leaks sessions: the job that removes expired ones was never scheduled. The map is five objects
 * away from the static field of the server.
 */
public final class WebSessions {
  static final class Server {
    static final Server INSTANCE = new Server();
    final Host host = new Host();
  }

  static final class Host {
    final Context context = new Context("/shop");
  }

  static final class Context {
    final String path;
    final SessionManager manager = new SessionManager();

    Context(String path) {
      this.path = path;
    }
  }

  static final class SessionManager {
    final Map<String, Session> sessions = new ConcurrentHashMap<>();
  }

  static final class Session {
    final String id;
    final long created;
    final Map<String, Object> attributes = new HashMap<>();

    Session(String id, long created) {
      this.id = id;
      this.created = created;
    }
  }

  static final class Cart {
    final List<Item> items = new ArrayList<>();
  }

  static final class Item {
    final String article;
    final int count;

    Item(String article, int count) {
      this.article = article;
      this.count = count;
    }
  }

  private static void visit(int visitor) {
    Session session = new Session(Integer.toHexString(visitor * 0x9E3779B9), visitor);
    Cart cart = new Cart();
    for (int i = 0; i < visitor % 4; i++) {
      cart.items.add(new Item("article-" + visitor + "-" + i, i + 1));
    }
    session.attributes.put("cart", cart);
    session.attributes.put("language", "de");
    Server.INSTANCE.host.context.manager.sessions.put(session.id, session);
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 40_000; i++) {
      visit(i);
    }
    System.out.println("ready");
    System.in.read();
  }
}
