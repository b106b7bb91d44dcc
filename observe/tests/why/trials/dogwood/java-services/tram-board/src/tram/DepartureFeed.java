package tram;

import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;

class DepartureFeed {
    private final int port;

    DepartureFeed(int port) {
        this.port = port;
    }

    String fetch(String stop) throws IOException {
        HttpURLConnection c = (HttpURLConnection)
            new URL("http://127.0.0.1:" + port + "/departures?stop=" + stop).openConnection();
        c.setReadTimeout(5000);
        try (InputStream in = c.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
