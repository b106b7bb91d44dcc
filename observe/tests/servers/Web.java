import io.undertow.Undertow;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.URL;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * Answers over HTTP with the server of its first argument; every fiftieth request is slow. Sends itself the number of
 * requests that it reads from its input. Web SERVER FOLDER
 */
public final class Web {
  static volatile long sink;

  static void fastPath() {
    sink++;
  }

  static void sleeps() {
    try {
      Thread.sleep(40);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void work(String query) {
    if (Integer.parseInt(query) % 50 == 0) {
      sleeps();
    } else {
      fastPath();
    }
  }

  private static int tomcat(String folder) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setPort(0);
    tomcat.setBaseDir(folder);
    var context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "work", new HttpServlet() {
      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        work(request.getQueryString());
      }
    });
    context.addServletMappingDecoded("/", "work");
    tomcat.getConnector();
    tomcat.start();
    return tomcat.getConnector().getLocalPort();
  }

  private static int jetty() throws Exception {
    Server server = new Server(0);
    server.setHandler(new Handler.Abstract() {
      @Override
      public boolean handle(Request request, Response response, Callback callback) {
        work(request.getHttpURI().getQuery());
        callback.succeeded();
        return true;
      }
    });
    server.start();
    return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
  }

  private static int undertow() {
    Undertow server = Undertow.builder().addHttpListener(0, "127.0.0.1")
        .setHandler(exchange -> work(exchange.getQueryString())).build();
    server.start();
    return ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
  }

  public static void main(String[] args) throws Exception {
    int port = switch (args[0]) {
      case "tomcat" -> tomcat(args[1]);
      case "jetty" -> jetty();
      default -> undertow();
    };
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      int requests = Integer.parseInt(line.split(" ")[1]);
      for (int i = 1; i <= requests; i++) {
        try (var answer = new URL("http://127.0.0.1:" + port + "/?" + i).openStream()) {
          answer.readAllBytes();
        }
      }
      System.out.println("done");
    }
  }
}
