package com.acme.work;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedDeque;

/** Client of another service: HTTP over connections that it keeps, as many as there are calls at once. */
public final class Remote {
    private final int port;
    private final byte[] request;
    private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

    public Remote(int port) {
        this.port = port;
        this.request = ("GET /data HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the body of the answer. */
    public String call() throws IOException {
        Connection connection = idle.pollFirst();
        if (connection == null) {
            connection = connect();
        }
        String body = connection.call();
        idle.addFirst(connection);
        return body;
    }

    /** Returns a new connection, which belongs to the caller. */
    public Connection connect() throws IOException {
        return new Connection(port, request);
    }

    /** Connection to the other service. */
    public static final class Connection {
        private final Socket socket = new Socket();
        private final byte[] request;
        private final InputStream in;

        Connection(int port, byte[] request) throws IOException {
            this.request = request;
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress("127.0.0.1", port));
            in = new BufferedInputStream(socket.getInputStream());
        }

        /** Sends a request and returns the body of the answer. */
        public String call() throws IOException {
            socket.getOutputStream().write(request);
            int length = 0;
            for (String line = line(); !line.isEmpty(); line = line()) {
                if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                    length = Integer.parseInt(line.substring(15).trim());
                }
            }
            return new String(in.readNBytes(length), StandardCharsets.UTF_8);
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int b = in.read(); b != '\n'; b = in.read()) {
                if (b < 0) {
                    throw new IOException("the connection was closed");
                }
                if (b != '\r') {
                    line.append((char) b);
                }
            }
            return line.toString();
        }
    }
}
