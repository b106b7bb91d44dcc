package toll;

import jakarta.servlet.http.*;
import java.io.IOException;
import java.nio.file.Path;
import org.eclipse.jetty.server.*;
import org.eclipse.jetty.server.handler.AbstractHandler;

/** Hands out the latest passage record of a toll plaza. */
public class Main {
    public static void main(String[] a) throws Exception {
        PassageArchive archive = new PassageArchive(Path.of(a[1], "passages").toFile(), Integer.parseInt(a[2]) == 1);
        archive.receive(200, 75);
        Server server = new Server(Integer.parseInt(a[0]));
        server.setHandler(new AbstractHandler() {
            @Override
            public void handle(String target, Request base, HttpServletRequest req, HttpServletResponse res)
                    throws IOException {
                base.setHandled(true);
                int plaza = Integer.parseInt(target.substring(target.lastIndexOf('/') + 1)) % 200;
                res.setContentType("application/json");
                res.getOutputStream().write(archive.latest(plaza));
            }
        });
        server.start();
        server.join();
    }
}
