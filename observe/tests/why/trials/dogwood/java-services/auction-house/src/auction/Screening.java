package auction;

import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;

class Screening {
    private final int port;

    Screening(int port) {
        this.port = port;
    }

    double risk(int lot, long cents) throws IOException {
        URL url = new URL("http://127.0.0.1:" + port + "/risk?lot=" + lot + "&cents=" + cents);
        try (InputStream in = url.openStream()) {
            String s = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return Double.parseDouble(s.replaceAll("[^0-9.]", ""));
        }
    }
}
