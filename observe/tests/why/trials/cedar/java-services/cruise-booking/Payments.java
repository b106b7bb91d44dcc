import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The payment provider's interface. */
final class Payments {
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI uri;

    Payments(int port) {
        uri = URI.create("http://127.0.0.1:" + port + "/v2/charges");
    }

    String charge(int customer, int cents) throws IOException, InterruptedException {
        HttpRequest r = HttpRequest.newBuilder(uri)
            .POST(HttpRequest.BodyPublishers.ofString("{\"customer\":" + customer + ",\"cents\":" + cents + "}"))
            .build();
        return http.send(r, HttpResponse.BodyHandlers.ofString()).body();
    }
}
