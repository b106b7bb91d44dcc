import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The partner's interface: the balance of a customer. */
final class Partner {
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int port;

    Partner(int port) {
        this.port = port;
    }

    int balance(String customer) {
        try {
            URI uri = URI.create("http://127.0.0.1:" + port + "/balance/" + customer);
            HttpRequest r = HttpRequest.newBuilder(uri).build();
            return http.send(r, HttpResponse.BodyHandlers.ofString()).body().length() * 100;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
