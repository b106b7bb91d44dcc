import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A market without a single holder of its memory: two maps share the offers, requests hold their answers. */
public class Market {
    static final int OFFERS = 30_000;
    static final int REQUESTS = 6;
    static final int ANSWER_BYTES = 200_000;
    static final int PLUGINS = 3;

    record Offer(int id, byte[] picture) {
    }

    static class ById {
        static final Map<Integer, Offer> OFFERS = new HashMap<>();
    }

    static class ByName {
        static final Map<String, Offer> OFFERS = new TreeMap<>();
    }

    /** A copy of it is in each loader of plug-ins. */
    public static class Plugin {
        static final byte[] RULES = new byte[100_000];
    }

    static final List<Object> FOUND = new ArrayList<>();
    static final List<Socket> ASKED = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < OFFERS; i++) {
            Offer offer = new Offer(i, new byte[200]);
            ById.OFFERS.put(i, offer);
            ByName.OFFERS.put("offer " + i, offer);
        }
        URL own = new File(args[0]).toURI().toURL();
        for (int i = 0; i < PLUGINS; i++) {
            ClassLoader loader = new URLClassLoader("plugins-" + i, new URL[] {own}, ClassLoader.getPlatformClassLoader());
            FOUND.add(Class.forName("Market$Plugin", true, loader));
        }
        ServerSocket silent = new ServerSocket(0, REQUESTS, InetAddress.getLoopbackAddress());
        for (int i = 1; i <= REQUESTS; i++) {
            Thread thread = new Thread(() -> ask(silent.getLocalPort()), "exec-" + i);
            thread.setDaemon(true);
            thread.start();
            // A thread holds its answer before the request has arrived. Unreachable sockets would be closed.
            Socket asked = silent.accept();
            asked.getInputStream().read();
            ASKED.add(asked);
        }
        Thread.sleep(200);
        System.out.println("ready");
        System.in.read();
    }

    private static void ask(int port) {
        byte[] answer = new byte[ANSWER_BYTES];
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            OutputStream out = socket.getOutputStream();
            out.write(1);
            answer[0] = (byte) socket.getInputStream().read();
        } catch (IOException e) {
            answer[1] = 1;
        }
        System.out.println(answer[0] + answer[1]);
    }
}
