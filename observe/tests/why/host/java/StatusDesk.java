import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers some 100 connections per second. Its accept queue has five places and needs none. Nothing is wrong. */
final class StatusDesk {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        server.setSoTimeout(100);
        System.out.println("listening " + server.getLocalPort());
        ExecutorService pool = Executors.newFixedThreadPool(8);
        run.ready();
        while (run.going()) {
            try {
                Socket client = server.accept();
                pool.execute(() -> answer(client, run));
            } catch (java.net.SocketTimeoutException e) {
                // There is no client.
            }
        }
        run.finish();
    }

    static void answer(Socket client, Run run) {
        try (client; BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            in.readLine();
            client.getOutputStream().write("all well\n".getBytes());
            run.done();
        } catch (IOException e) {
            // The client is gone.
        }
    }
}
