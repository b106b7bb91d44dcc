package spice;

import java.io.IOException;
import okhttp3.*;

class StockClient {
    private final OkHttpClient http;
    private final int port;

    StockClient(OkHttpClient http, int port) {
        this.http = http;
        this.port = port;
    }

    byte[] lookup(String sku) throws IOException {
        Request req = new Request.Builder()
            .url("http://stock.spice-internal.example:" + port + "/items/" + sku).build();
        try (Response res = http.newCall(req).execute()) {
            return res.body().bytes();
        }
    }
}
