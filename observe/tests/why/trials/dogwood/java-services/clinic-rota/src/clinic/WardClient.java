package clinic;

import com.fasterxml.jackson.databind.*;
import java.io.*;
import java.util.concurrent.TimeUnit;
import okhttp3.*;

class WardClient {
    private final OkHttpClient http = new OkHttpClient.Builder()
        .connectionPool(new ConnectionPool(64, 1, TimeUnit.MINUTES)).build();
    private final ObjectMapper json = new ObjectMapper();
    private final int port;

    WardClient(int port) {
        this.port = port;
    }

    int free(String ward, int day) {
        Request req = new Request.Builder().url("http://127.0.0.1:" + port + "/" + ward + "/" + day).build();
        try (Response res = http.newCall(req).execute()) {
            int hours = 0;
            for (JsonNode n : json.readTree(res.body().bytes()).get("free"))
                hours += n.get("to").asInt() - n.get("from").asInt();
            return hours;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
