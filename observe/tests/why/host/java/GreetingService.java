import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Answers one line per connection, by a pool of eight. The accepting thread does other work for 100 ms now and then;
 * two
 * connections fit into the queue during that time. Cured: 512 fit.
 */
final class GreetingService {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        ServerSocket server = new ServerSocket(0, run.cured ? 512 : 2, InetAddress.getLoopbackAddress());
        server.setSoTimeout(20);
        System.out.println("listening " + server.getLocalPort());
        ExecutorService pool = Executors.newFixedThreadPool(8);
        long accepted = 0;
        run.ready();
        while (run.going()) {
            try {
                Socket client = server.accept();
                pool.execute(() -> answer(client, run));
            } catch (java.net.SocketTimeoutException e) {
                // There is no client.
            }
            if (++accepted % 20 == 0) {
                Thread.sleep(100); // rates are read again
            }
        }
        run.finish();
    }

    static void answer(Socket client, Run run) {
        try (client; BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            String name = in.readLine();
            client.getOutputStream().write(("hello " + name + "\n").getBytes());
            run.done();
        } catch (IOException e) {
            // The client is gone.
        }
    }
}
