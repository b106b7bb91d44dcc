import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Requests that hold memory in different ways while they wait for a remote call. Arrays of each way have a length of
 * their own.
 */
public final class Holding {
    private static final int UNIT = 100_000;
    private static final int WARM_UP = 20_000;
    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[5 * UNIT]);
    private static final Shared SHARED = new Shared();
    private static final ExecutorService POOL = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    /**
     * One of this many calls is a real one, and takes this time. Both are numbers, so that the code that the warm-up
     * compiles stays valid after it: in code that has to be compiled again, frames are interpreted for a while.
     */
    static volatile int every = 64;
    static volatile int delayMs;
    static volatile int sink;

    private static final class Shared {
        volatile byte[] data = new byte[6 * UNIT];
    }

    /** Object of one request. */
    private static final class Order {
        private final byte[] items = new byte[4 * UNIT];

        int total(Client client) throws IOException {
            int answer = client.call();
            return answer + items[1];
        }
    }

    /** Connection to the remote service, which answers after a while. */
    private static final class Client {
        private final Socket socket;
        private int calls;

        Client(int port) throws IOException {
            socket = new Socket("127.0.0.1", port);
        }

        int call() throws IOException {
            calls++;
            if (calls % every != 0) {
                return 1;
            }
            OutputStream out = socket.getOutputStream();
            out.write(delayMs);
            return new DataInputStream(socket.getInputStream()).readByte();
        }
    }

    private Holding() {}

    static int handle(String way, Client client) throws Exception {
        switch (way) {
            case "dead":
                return dead(client);
            case "used":
                return used(client);
            case "argument":
                return argument(client);
            case "field":
                return new Order().total(client);
            case "buffer":
                return buffer(client);
            case "shared":
                return shared(client);
            default:
                return captured(client);
        }
    }

    private static int dead(Client client) throws IOException {
        byte[] data = new byte[UNIT];
        sink = data[1];
        return client.call();
    }

    private static int used(Client client) throws IOException {
        byte[] data = new byte[2 * UNIT];
        int answer = client.call();
        return answer + data[1];
    }

    private static int argument(Client client) throws IOException {
        byte[] data = new byte[3 * UNIT];
        int answer = send(data, client);
        return answer + data[1];
    }

    private static int send(byte[] data, Client client) throws IOException {
        int answer = client.call();
        return answer + data[2];
    }

    private static int buffer(Client client) throws IOException {
        byte[] data = BUFFER.get();
        int answer = client.call();
        return answer + data[1];
    }

    private static int shared(Client client) throws IOException {
        byte[] data = SHARED.data;
        int answer = client.call();
        return answer + data[1];
    }

    private static int captured(Client client) throws Exception {
        byte[] data = new byte[7 * UNIT];
        CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(() -> {
            try {
                return client.call() + data[1];
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, POOL);
        return answer.get();
    }

    private static void answer(Socket socket) {
        try {
            for (int ms = socket.getInputStream().read(); ms >= 0; ms = socket.getInputStream().read()) {
                Thread.sleep(ms);
                socket.getOutputStream().write(1);
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void start(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        int ms = Integer.parseInt(args[0]);
        int warmUp = args.length > 1 ? Integer.parseInt(args[1]) : WARM_UP;
        String[] ways = {"dead", "used", "argument", "field", "buffer", "shared", "captured"};
        ServerSocket server = new ServerSocket(0);
        start(() -> {
            try {
                while (true) {
                    Socket socket = server.accept();
                    start(() -> answer(socket), "remote");
                }
            } catch (IOException e) {
                Thread.currentThread().interrupt();
            }
        }, "acceptor");
        Client first = new Client(server.getLocalPort());
        for (int i = 0; i < warmUp; i++) {
            for (String way : ways) {
                sink = handle(way, first);
            }
        }
        every = 1;
        delayMs = ms;
        for (String way : ways) {
            Client client = new Client(server.getLocalPort());
            start(() -> {
                try {
                    while (true) {
                        sink = handle(way, client);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "request-" + way);
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
