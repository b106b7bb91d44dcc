import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/** Takes messages from the line, one virtual thread each, and keeps the newest of each device. */
public class Ingest {
    public static class Reading {
        public String metric;
        public double value;
        public long at;
    }

    public static class Position {
        public double lat;
        public double lon;
    }

    public static class Message {
        public String device;
        public String firmware;
        public Position position;
        public List<Reading> readings;
        public Map<String, String> tags;
    }

    static final ConcurrentHashMap<String, Message> newest = new ConcurrentHashMap<>();
    static final LongAdder done = new LongAdder();

    static void take(String json) {
        try {
            Message m = Codec.mapper().readValue(json, Message.class);
            if (m.readings.stream().anyMatch(r -> Double.isNaN(r.value)) || Math.abs(m.position.lat) > 90) {
                return;
            }
            newest.put(m.device, m);
            done.increment();
        } catch (Exception e) {
            System.err.println(e);
        }
    }

    static String message(int n) {
        StringBuilder s = new StringBuilder("{\"device\":\"d" + n % 300 + "\",\"firmware\":\"2.4." + n % 9
            + "\",\"position\":{\"lat\":" + n % 90 + ".25,\"lon\":8.5},\"tags\":{\"site\":\"north\"},\"readings\":[");
        for (int i = 0; i < 6; i++) {
            s.append(i > 0 ? "," : "").append("{\"metric\":\"temp").append(i).append("\",\"value\":").append(n % 41 + i)
                .append(".5,\"at\":").append(1_700_000_000L + n).append('}');
        }
        return s.append("]}").toString();
    }

    public static void main(String[] a) throws Exception {
        String[] line = new String[1000];
        for (int i = 0; i < line.length; i++) {
            line[i] = message(i);
        }
        Semaphore inFlight = new Semaphore(200);
        Thread.ofPlatform().name("line-reader").start(() -> {
            try (var perMessage = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int i = 0; ; i++) {
                    String json = line[i % line.length];
                    inFlight.acquire();
                    perMessage.execute(() -> {
                        try {
                            take(json);
                        } finally {
                            inFlight.release();
                        }
                    });
                }
            } catch (InterruptedException e) {
                System.err.println(e);
            }
        });
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + done.sum());
        }
    }
}
