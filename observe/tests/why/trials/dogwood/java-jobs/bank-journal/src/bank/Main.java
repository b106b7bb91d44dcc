package bank;

import java.nio.file.Path;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Posts transfers; a transfer is confirmed when it is in the journal. */
public class Main {
    static final LongAdder posted = new LongAdder();

    public static void main(String[] a) throws Exception {
        Journal journal = new Journal(Path.of(a[0], "journal.jsonl"), Integer.parseInt(a[1]));
        Thread writer = new Thread(journal, "journal-writer");
        writer.start();
        Ledger ledger = new Ledger(journal, 5_000);
        for (int i = 0; i < 32; i++) new Thread(() -> teller(ledger), "teller-" + i).start();
        while (true) {
            Thread.sleep(250);
            System.out.println("done " + posted.sum());
        }
    }

    static void teller(Ledger ledger) {
        ThreadLocalRandom r = ThreadLocalRandom.current();
        while (true) {
            ledger.transfer(r.nextInt(5_000), r.nextInt(5_000), 1 + r.nextInt(90_000));
            posted.increment();
        }
    }
}
