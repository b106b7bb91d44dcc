import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;

/** An HTTP peer: Backend PORT DELAY_MS JITTER_MS BODY. */
public class Backend {
    public static void main(String[] a) throws Exception {
        int delay = Integer.parseInt(a[1]), jitter = Integer.parseInt(a[2]);
        byte[] body = a[3].getBytes(StandardCharsets.UTF_8);
        byte[] answer = ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + body.length + "\r\n\r\n" + a[3])
            .getBytes(StandardCharsets.UTF_8);
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 512);
        while (true) {
            Socket s = server.accept();
            Thread t = new Thread(() -> serve(s, answer, delay, jitter));
            t.setDaemon(true);
            t.start();
        }
    }

    static void serve(Socket s, byte[] answer, int delay, int jitter) {
        try (s) {
            s.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(s.getInputStream());
            while (true) {
                long length = 0;
                if (Load.line(in).isEmpty()) continue;
                for (String h; !(h = Load.line(in)).isEmpty(); )
                    if (h.toLowerCase().startsWith("content-length:")) length = Long.parseLong(h.substring(15).trim());
                in.skipNBytes(length);
                int ms = delay + (jitter > 0 ? ThreadLocalRandom.current().nextInt(jitter) : 0);
                if (ms > 0) Thread.sleep(ms);
                s.getOutputStream().write(answer);
            }
        } catch (IOException | InterruptedException e) {
            // the client has gone
        }
    }
}
