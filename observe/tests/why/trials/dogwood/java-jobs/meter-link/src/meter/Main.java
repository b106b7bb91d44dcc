package meter;

import java.util.concurrent.atomic.LongAdder;

/** Sends the readings of substations to the head end. */
public class Main {
    static final LongAdder confirmed = new LongAdder();

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 6; i++) {
            Substation s = new Substation(i);
            Uplink up = new Uplink("127.0.0.1", Integer.parseInt(a[0]), a[1].equals("b"));
            new Thread(() -> feed(s, up), "substation-" + i).start();
        }
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + confirmed.sum());
        }
    }

    static void feed(Substation s, Uplink up) {
        try {
            while (true) {
                up.send(s.readings());
                confirmed.increment();
            }
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
