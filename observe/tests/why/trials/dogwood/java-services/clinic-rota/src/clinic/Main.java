package clinic;

import jakarta.servlet.http.*;
import java.io.*;
import java.util.concurrent.*;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

public class Main {
    public static void main(String[] a) throws Exception {
        WardClient wards = new WardClient(Integer.parseInt(a[1]));
        Rota rota = a[2].equals("b") ? new Rota(wards, Executors.newFixedThreadPool(60)) : new Rota(wards, null);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File("tomcat").getAbsolutePath());
        tomcat.setPort(Integer.parseInt(a[0]));
        tomcat.getConnector();
        Context ctx = tomcat.addContext("", new File(".").getAbsolutePath());
        Tomcat.addServlet(ctx, "rota", new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest req, HttpServletResponse res) throws IOException {
                String path = req.getRequestURI();
                res.setContentType("application/json");
                res.getWriter().print(rota.day(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)) % 365));
            }
        });
        ctx.addServletMappingDecoded("/rota/*", "rota");
        tomcat.start();
        tomcat.getServer().await();
    }
}
