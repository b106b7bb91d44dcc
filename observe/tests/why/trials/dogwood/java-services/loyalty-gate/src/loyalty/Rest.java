package loyalty;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.*;
import java.net.*;

class Rest {
    JsonNode get(int port, String path, String bearer) throws IOException {
        HttpURLConnection c = (HttpURLConnection)
            URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
        if (bearer != null) c.setRequestProperty("Authorization", "Bearer " + bearer);
        c.setReadTimeout(5000);
        try (InputStream in = c.getInputStream()) {
            return Main.JSON.readTree(in.readAllBytes());
        }
    }
}
