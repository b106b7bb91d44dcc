package post;

import java.net.URI;
import java.net.http.*;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Validates addresses of parcels against a register that has two replicas. */
public class AddressCheck {
    private static final LongAdder checked = new LongAdder(), doubtful = new LongAdder();
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(Duration.ofSeconds(1)).build();
    private final List<Integer> replicas;

    AddressCheck(List<Integer> replicas) {
        this.replicas = replicas;
    }

    private CompletableFuture<String> ask(int replica, String address) {
        HttpRequest q = HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + replicas.get(replica) + "/validate?" + address))
            .timeout(Duration.ofMillis(300)).build();
        CompletableFuture<String> answer = http.sendAsync(q, HttpResponse.BodyHandlers.ofString())
            .thenApply(HttpResponse::body);
        if (replica + 1 < replicas.size()) {
            return answer.exceptionallyCompose(e -> ask(replica + 1, address));
        }
        return answer;
    }

    /** One of the lanes of the sorting machine: its next parcel comes when the last one is decided. */
    private void lane(int lane, long n) {
        ask(0, "zip=" + (10000 + (n * 37 + lane) % 89999) + "&nr=" + n % 200).whenComplete((body, e) -> {
            if (e != null || !body.contains("true")) {
                doubtful.increment();
            }
            checked.increment();
            CompletableFuture.runAsync(() -> lane(lane, n + 1));
        });
    }

    public static void main(String[] a) throws Exception {
        AddressCheck c = new AddressCheck(List.of(Integer.parseInt(a[0]), Integer.parseInt(a[1])));
        for (int i = 0; i < 12; i++) {
            c.lane(i, 0);
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + checked.sum());
        }
    }
}
