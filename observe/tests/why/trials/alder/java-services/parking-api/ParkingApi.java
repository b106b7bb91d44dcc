import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Parking: is the ticket of this car valid? */
public class ParkingApi {
    static class ParkingServlet extends HttpServlet {
        private final String office;
        private final Map<String, Long> lastSeen = new ConcurrentHashMap<>();

        ParkingServlet(int port) { office = "http://127.0.0.1:" + port + "/ticket/"; }

        private String ask(String car) throws IOException {
            HttpURLConnection c = (HttpURLConnection) new URL(office + car).openConnection();
            c.setReadTimeout(5000);
            try (InputStream in = c.getInputStream()) {
                return new String(in.readAllBytes());
            }
        }

        @Override protected void doGet(HttpServletRequest q, HttpServletResponse r) throws IOException {
            String car = q.getPathInfo() == null ? "none" : q.getPathInfo().substring(1);
            String answer = ask(car);
            lastSeen.put(car, System.currentTimeMillis());
            r.setContentType("application/json");
            r.getWriter().print("{\"car\":\"" + car + "\",\"ticket\":" + answer + ",\"cars\":" + lastSeen.size() + "}");
        }
    }

    public static void main(String[] a) throws Exception {
        Tomcat t = new Tomcat();
        t.setBaseDir(new File(".").getAbsolutePath());
        Connector c = new Connector();
        c.setPort(Integer.parseInt(a[0]));
        c.setProperty("address", "127.0.0.1");
        c.setProperty("maxThreads", a[2]);
        c.setProperty("minSpareThreads", "4");
        t.setConnector(c);
        Context x = t.addContext("", new File(".").getAbsolutePath());
        Tomcat.addServlet(x, "parking", new ParkingServlet(Integer.parseInt(a[1])));
        x.addServletMappingDecoded("/car/*", "parking");
        System.setProperty("http.maxConnections", "40");
        t.start();
        t.getServer().await();
    }
}
