package cargo;

import java.util.*;
import java.util.concurrent.atomic.LongAdder;

/** Matches gate scans with the manifests of the containers expected. */
public class Main {
    static final LongAdder matched = new LongAdder();

    public static void main(String[] a) throws Exception {
        ManifestIndex index = new ManifestIndex(a[0].equals("b"));
        List<ScanEvent> day = new ArrayList<>();
        Random rnd = new Random(11);
        String[] owners = {"MSKU", "TGHU", "CMAU", "HLXU", "OOLU", "EGHV"};
        for (int i = 0; i < 20_000; i++) {
            String owner = owners[rnd.nextInt(owners.length)];
            int serial = 100_000 + rnd.nextInt(900_000), depot = rnd.nextInt(4);
            index.add(owner, serial, depot, "manifest-" + i);
            day.add(new ScanEvent(owner, serial, depot, i));
        }
        for (int w = 0; w < 2; w++) {
            int seed = w;
            new Thread(() -> new GateMatcher(index, day, seed).run(), "gate-matcher-" + w).start();
        }
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + matched.sum());
        }
    }
}
