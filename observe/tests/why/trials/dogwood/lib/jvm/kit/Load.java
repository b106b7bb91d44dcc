import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** HTTP clients on kept connections: Load PORT CLIENTS PACE PATH BODY. Prints "done N" four times a second. */
public class Load {
    static final LongAdder done = new LongAdder();

    public static void main(String[] a) throws Exception {
        int port = Integer.parseInt(a[0]), clients = Integer.parseInt(a[1]);
        double pace = Double.parseDouble(a[2]);
        long gap = pace > 0 ? (long) (1e9 * clients / pace) : 0;
        for (int i = 0; i < clients; i++) {
            long first = gap * i / clients;
            Thread t = new Thread(() -> client(port, gap, first, a[3], a.length > 4 ? a[4] : ""), "client-" + i);
            t.setDaemon(true);
            t.start();
        }
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + done.sum());
        }
    }

    static void client(int port, long gap, long first, String path, String body) {
        long next = System.nanoTime() + first;
        while (true) {
            try (Socket s = new Socket("127.0.0.1", port)) {
                s.setTcpNoDelay(true);
                InputStream in = new BufferedInputStream(s.getInputStream(), 8192);
                OutputStream out = s.getOutputStream();
                while (true) {
                    if (gap > 0) {
                        long now;
                        while ((now = System.nanoTime()) < next) LockSupport.parkNanos(next - now);
                        next = Math.max(next + gap, now - gap);
                    }
                    String n = Integer.toString(ThreadLocalRandom.current().nextInt(1_000_000));
                    String b = body.replace("{n}", n);
                    String head = (b.isEmpty() ? "GET " : "POST ") + path.replace("{n}", n) + " HTTP/1.1\r\nHost: localhost\r\n"
                        + (b.isEmpty() ? "" : "Content-Type: application/json\r\nContent-Length: " + b.length() + "\r\n") + "\r\n";
                    out.write((head + b).getBytes(StandardCharsets.ISO_8859_1));
                    if (response(in)) done.increment();
                }
            } catch (IOException e) {
                LockSupport.parkNanos(20_000_000);
            }
        }
    }

    static String line(InputStream in) throws IOException {
        StringBuilder s = new StringBuilder();
        int c;
        while ((c = in.read()) != '\n') {
            if (c < 0) throw new EOFException();
            if (c != '\r') s.append((char) c);
        }
        return s.toString();
    }

    static boolean response(InputStream in) throws IOException {
        boolean ok = line(in).contains(" 20"), chunked = false;
        long length = 0;
        for (String h; !(h = line(in)).isEmpty(); ) {
            String l = h.toLowerCase();
            if (l.startsWith("content-length:")) length = Long.parseLong(l.substring(15).trim());
            if (l.startsWith("transfer-encoding:") && l.contains("chunked")) chunked = true;
        }
        if (!chunked) in.skipNBytes(length);
        else for (long n = 1; n > 0; ) {
            n = Long.parseLong(line(in).split(";")[0].trim(), 16);
            in.skipNBytes(n);
            line(in);
        }
        return ok;
    }
}
