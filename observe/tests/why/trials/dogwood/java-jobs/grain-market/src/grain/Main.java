package grain;

import jakarta.servlet.http.*;
import java.io.*;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

public class Main {
    public static void main(String[] a) throws Exception {
        QuoteStore store = new QuoteStore(5_800);
        store.preload();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File("tomcat").getAbsolutePath());
        tomcat.setPort(Integer.parseInt(a[0]));
        tomcat.getConnector();
        Context ctx = tomcat.addContext("", new File(".").getAbsolutePath());
        Tomcat.addServlet(ctx, "history", new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest req, HttpServletResponse res) throws IOException {
                String path = req.getRequestURI();
                int lot = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
                res.setContentType("text/plain");
                res.getWriter().print(Chart.render(store.history(lot)));
            }
        });
        ctx.addServletMappingDecoded("/history/*", "history");
        tomcat.start();
        tomcat.getServer().await();
    }
}
