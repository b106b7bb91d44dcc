package shop;

import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/** Tells the web shop how many of an article are in store; the numbers are in the ERP system. */
public class StockLevels {
    /** A connection to the ERP's terminal protocol. */
    static final class ErpSession {
        private final ReentrantLock lock = new ReentrantLock();
        private final BufferedReader in;
        private final Writer out;

        ErpSession(int port) throws IOException {
            Socket s = new Socket("127.0.0.1", port);
            s.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(s.getInputStream()));
            out = new OutputStreamWriter(s.getOutputStream());
        }

        int quantity(String sku) throws IOException {
            lock.lock();
            try {
                out.write("STOCK " + sku + "\n");
                out.flush();
                return Integer.parseInt(in.readLine().substring(4));
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] a) throws Exception {
        ErpSession[] sessions = new ErpSession[Integer.parseInt(a[2])];
        for (int i = 0; i < sessions.length; i++) {
            sessions[i] = new ErpSession(Integer.parseInt(a[1]));
        }
        AtomicInteger turn = new AtomicInteger();
        HttpServer http = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[0])), 128);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/stock/", x -> {
            String sku = x.getRequestURI().getPath().substring(7);
            ErpSession erp = sessions[Math.floorMod(turn.getAndIncrement(), sessions.length)];
            byte[] body = ("{\"sku\":\"" + sku + "\",\"quantity\":" + erp.quantity(sku) + "}").getBytes();
            x.getResponseHeaders().set("Content-Type", "application/json");
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        http.start();
    }
}
