import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;

/** Fuel statistics from telemetry messages. */
public class TelemetryParser {
    public static class Position { public double lat, lon; public int alt; }
    public static class Tank { @JsonProperty("l") public double litres; @JsonProperty("c") public int capacity; }
    public static class Message {
        public String truck;
        public long at;
        public Position position;
        public List<Tank> tanks;
        @JsonProperty("drv") public String driver;
    }

    static final ObjectMapper SHARED = mapper();
    static final AtomicLong parsed = new AtomicLong();
    static final DoubleAdder fuel = new DoubleAdder();

    static ObjectMapper mapper() {
        return new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
    }

    static Message parse(String json, boolean shared) throws Exception {
        return (shared ? SHARED : mapper()).readValue(json, Message.class);
    }

    public static void main(String[] a) throws Exception {
        boolean shared = a[0].equals("shared");
        BlockingQueue<String> q = new ArrayBlockingQueue<>(1000);
        new Thread(() -> {
            try {
                for (long i = 0;; i++)
                    q.put("{\"truck\":\"T" + i % 90 + "\",\"at\":" + i + ",\"position\":{\"lat\":50." + i % 1000
                            + ",\"lon\":8.1,\"alt\":120},\"tanks\":[{\"l\":410.5,\"c\":600},{\"l\":33.1,\"c\":90}],"
                            + "\"drv\":\"D" + i % 300 + "\",\"rev\":3}");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "mqtt-in").start();
        for (int t = 0; t < 2; t++)
            new Thread(() -> {
                try {
                    while (true) {
                        for (Tank k : parse(q.take(), shared).tanks) fuel.add(k.litres);
                        parsed.incrementAndGet();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "parser-" + t).start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + parsed.get());
        }
    }
}
