package desk;

import java.io.IOException;
import java.net.URI;
import java.net.http.*;

class PaymentClient {
    private final HttpClient http = HttpClient.newHttpClient();
    private final URI uri;

    PaymentClient(int port) {
        uri = URI.create("http://127.0.0.1:" + port + "/charge");
    }

    String charge(int customer) throws IOException, InterruptedException {
        HttpRequest req = HttpRequest.newBuilder(uri)
            .POST(HttpRequest.BodyPublishers.ofString("{\"customer\":" + customer + ",\"cents\":2450}")).build();
        HttpResponse<String> res = http.send(req, HttpResponse.BodyHandlers.ofString());
        if (res.statusCode() != 200) throw new IOException("payment refused");
        return Integer.toHexString(res.body().hashCode() ^ customer);
    }
}
