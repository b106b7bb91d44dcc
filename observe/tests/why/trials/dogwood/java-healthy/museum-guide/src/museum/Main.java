package museum;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.*;
import java.io.*;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

public class Main {
    public static void main(String[] a) throws Exception {
        Guide guide = new Guide(400);
        ObjectMapper json = new ObjectMapper();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File("tomcat").getAbsolutePath());
        Connector http = new Connector();
        http.setPort(Integer.parseInt(a[0]));
        http.setProperty("maxThreads", "250");
        http.setProperty("minSpareThreads", "200");
        tomcat.setConnector(http);
        Context ctx = tomcat.addContext("", new File(".").getAbsolutePath());
        Tomcat.addServlet(ctx, "room", new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest req, HttpServletResponse res) throws IOException {
                String path = req.getRequestURI();
                int room = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
                guide.visit(room);
                res.setContentType("application/json");
                json.writeValue(res.getOutputStream(), guide.room(room));
            }
        });
        ctx.addServletMappingDecoded("/room/*", "room");
        tomcat.start();
        tomcat.getServer().await();
    }
}
