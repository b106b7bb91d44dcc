import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;

/**
 * A server whose messages are known: JSON by Jackson, sessions by Java serialisation, and a hard case with a cycle, a
 * lambda, a record, an enum, an Optional and times.
 *
 * <pre>
 *   /orders   writes and reads a list of orders as JSON, REPEAT times
 *   /session  writes and reads a session by Java serialisation, REPEAT times
 *   /users    writes and reads 200 users by Java serialisation
 *   /hooked   tells whether Jackson calls the hook of a capture; run with --add-opens java.base/java.lang=ALL-UNNAMED
 *   /hard     writes and reads the hard case by Java serialisation
 * </pre>
 */
public final class Shop {
  private static final int REPEAT = 20;
  private static final ObjectMapper JSON = new ObjectMapper().findAndRegisterModules()
      .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS);

  private Shop() {}

  public static final class Order {
    private long id;
    private String customer;
    private BigDecimal total;
    private boolean paid;
    private List<Line> lines = new ArrayList<>();

    public long getId() {
      return id;
    }

    public void setId(long id) {
      this.id = id;
    }

    public String getCustomer() {
      return customer;
    }

    public void setCustomer(String customer) {
      this.customer = customer;
    }

    public BigDecimal getTotal() {
      return total;
    }

    public void setTotal(BigDecimal total) {
      this.total = total;
    }

    public boolean isPaid() {
      return paid;
    }

    public void setPaid(boolean paid) {
      this.paid = paid;
    }

    public List<Line> getLines() {
      return lines;
    }

    public void setLines(List<Line> lines) {
      this.lines = lines;
    }
  }

  public static final class Line {
    private String article;
    private int count;
    private double price;

    public String getArticle() {
      return article;
    }

    public void setArticle(String article) {
      this.article = article;
    }

    public int getCount() {
      return count;
    }

    public void setCount(int count) {
      this.count = count;
    }

    public double getPrice() {
      return price;
    }

    public void setPrice(double price) {
      this.price = price;
    }
  }

  /** A session as containers keep it: serialisable, with nested collections. */
  public static final class Session implements Serializable {
    String user;
    long since;
    Map<String, String> values;
    List<Integer> seen;
  }

  enum Level { LOW, HIGH }

  record Period(LocalDate from, Duration length) implements Serializable {}

  /** The hard case. */
  public static final class Hard implements Serializable {
    String name;
    Hard self;
    Level level;
    Period period;
    Instant at;
    transient Supplier<String> secret;
    transient Optional<String> remark;
  }

  static List<Order> orders() {
    List<Order> orders = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Order order = new Order();
      order.id = 1000 + i;
      order.customer = "Jane Customer " + i + " \u00fc\u8336";
      order.total = new BigDecimal("129.95");
      order.paid = i % 2 == 0;
      for (int j = 0; j < 5; j++) {
        Line line = new Line();
        line.article = "article-" + i + "-" + j;
        line.count = j;
        line.price = 1.25 * j;
        order.lines.add(line);
      }
      orders.add(order);
    }
    return orders;
  }

  static Session session() {
    Session session = new Session();
    session.user = "jane.doe@example.org";
    session.since = 1_700_000_000_000L;
    session.values = new java.util.HashMap<>(Map.of("theme", "dark", "language", "en", "cart", "17"));
    session.seen = new ArrayList<>(List.of(1, 2, 3, 500, 70_000));
    return session;
  }

  static Hard hard() {
    Hard hard = new Hard();
    hard.name = "Jane Hard";
    hard.self = hard;
    hard.level = Level.HIGH;
    hard.period = new Period(LocalDate.of(2026, 1, 31), Duration.ofMinutes(90));
    hard.at = Instant.parse("2026-01-31T10:15:30Z");
    String own = hard.name;
    hard.secret = () -> own;
    hard.remark = Optional.of("a remark");
    return hard;
  }

  /** A user record of the published comparison of protobuf with Java serialisation. */
  public static final class User implements Serializable {
    long id;
    String name;
    String mail;
    int age;
    boolean active;
    String city;
  }

  static ArrayList<User> users() {
    ArrayList<User> users = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      User user = new User();
      user.id = 10_000_000L + i;
      user.name = "user name " + i;
      user.mail = "user" + i + "@example.org";
      user.age = 20 + i % 60;
      user.active = i % 3 != 0;
      user.city = "City of " + i % 17;
      users.add(user);
    }
    return users;
  }

  /** Returns how often the hook of a capture is called in one write: 0 if all methods are as they were. */
  private static byte[] hooked() throws IOException {
    AtomicInteger calls = new AtomicInteger();
    try {
      Field end = Class.forName("java.lang.YuntiMessages").getDeclaredField("end");
      end.setAccessible(true);
      ObjIntConsumer<Object> counter = (parts, target) -> calls.incrementAndGet();
      Object before = end.get(null);
      end.set(null, counter);
      JSON.writeValueAsBytes(List.of());
      end.set(null, before);
    } catch (ReflectiveOperationException e) {
      return "none".getBytes(StandardCharsets.US_ASCII);
    }
    return calls.toString().getBytes(StandardCharsets.US_ASCII);
  }

  static byte[] json() throws IOException {
    byte[] last = null;
    for (int i = 0; i < REPEAT; i++) {
      last = JSON.writeValueAsBytes(orders());
      JSON.readValue(last, Order[].class);
    }
    return last;
  }

  static byte[] java(Object message) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(message);
    }
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      in.readObject();
    }
    return bytes.toByteArray();
  }

  private interface Answer {
    byte[] get() throws IOException, ClassNotFoundException;
  }

  private static void answer(HttpExchange exchange, Answer answer) throws IOException {
    byte[] body;
    try {
      body = answer.get();
    } catch (ClassNotFoundException e) {
      throw new UncheckedIOException(new IOException(e));
    }
    exchange.sendResponseHeaders(200, body.length);
    try (exchange) {
      exchange.getResponseBody().write(body);
    }
  }

  private static byte[] sessions() throws IOException, ClassNotFoundException {
    byte[] last = null;
    for (int i = 0; i < REPEAT; i++) {
      last = java(session());
    }
    return last;
  }

  public static void main(String[] words) throws IOException {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 50);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext("/orders", exchange -> answer(exchange, Shop::json));
    server.createContext("/session", exchange -> answer(exchange, Shop::sessions));
    server.createContext("/users", exchange -> answer(exchange, () -> java(users())));
    server.createContext("/hooked", exchange -> answer(exchange, Shop::hooked));
    server.createContext("/hard", exchange -> answer(exchange, () -> java(hard())));
    server.start();
    System.out.println("ready");
  }
}
