import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.BitSet;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/** Seat reservations for one evening. */
public class SeatMap {
    private final BitSet seats = new BitSet(20000);
    private final boolean outside;
    private int next;

    SeatMap(boolean outside) { this.outside = outside; }

    static class Hall {
        final Socket s;
        final BufferedReader in;

        Hall(int port) throws Exception {
            s = new Socket("127.0.0.1", port);
            s.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(s.getInputStream()));
        }

        boolean confirm(int seat) throws Exception {
            s.getOutputStream().write(("SEAT " + seat + "\n").getBytes());
            return in.readLine() != null;
        }
    }

    int reserve(Hall hall) throws Exception {
        int seat;
        synchronized (this) {
            seat = seats.nextClearBit(next);
            if (seat >= 20000) {
                seats.clear();
                seat = 0;
            }
            seats.set(seat);
            next = seat;
            if (!outside && !hall.confirm(seat)) seats.clear(seat);
        }
        if (outside && !hall.confirm(seat)) {
            synchronized (this) {
                seats.clear(seat);
            }
        }
        return seat;
    }

    public static void main(String[] a) throws Exception {
        SeatMap map = new SeatMap(a[1].equals("outside"));
        LongAdder reserved = new LongAdder();
        var ex = Executors.newVirtualThreadPerTaskExecutor();
        for (int i = 0; i < 60; i++)
            ex.submit(() -> {
                try {
                    Hall h = new Hall(Integer.parseInt(a[0]));
                    while (true) {
                        map.reserve(h);
                        reserved.increment();
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                    return null;
                }
            });
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + reserved.sum());
        }
    }
}
