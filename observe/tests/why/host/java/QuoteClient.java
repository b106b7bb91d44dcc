import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;

/**
 * Requests quotes by four threads, each on a new connection, and retries if it gets none. Cured: persistent
 * connections.
 */
final class QuoteClient {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        int port = Integer.parseInt(run.args[0]);
        run.ready();
        run.threads(4, "quotes", number -> {
            while (run.going()) {
                try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
                        BufferedReader in = new BufferedReader(new InputStreamReader(server.getInputStream()))) {
                    do {
                        server.getOutputStream().write("quote\n".getBytes());
                        in.readLine();
                        run.done();
                    } while (run.cured && run.going());
                } catch (IOException e) {
                    Thread.sleep(20);
                }
            }
        });
    }
}
