import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Tallies rows by two threads in several steps, with a few reads and writes in between. Nothing is wrong: it
 * computes.
 */
final class NightTally {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        Path folder = Path.of(run.args[0]);
        run.ready();
        run.threads(2, "tally", number -> {
            long[] rows = new long[20_000];
            Path totals = folder.resolve("totals-" + number);
            for (int round = 0; run.going(); round++) {
                read(rows, round);
                convert(rows);
                tax(rows);
                round(rows);
                long total = sum(rows);
                if (round % 100 == 0) {
                    Files.writeString(totals, total + "\n", StandardOpenOption.CREATE,
                            StandardOpenOption.TRUNCATE_EXISTING);
                    Files.readString(totals);
                }
                run.done();
            }
        });
    }

    static void read(long[] rows, int round) {
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < rows.length; i++) {
                rows[i] = rows[i] * 6364136223846793005L + i * 31L + round;
            }
        }
    }

    static void convert(long[] rows) {
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < rows.length; i++) {
                rows[i] = rows[i] / 7 + rows[i] % 1013;
            }
        }
    }

    static void tax(long[] rows) {
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < rows.length; i++) {
                rows[i] += rows[i] / 119 * 19;
            }
        }
    }

    static void round(long[] rows) {
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < rows.length; i++) {
                rows[i] -= rows[i] % 5;
            }
        }
    }

    static long sum(long[] rows) {
        long total = 0;
        for (int k = 0; k < 3; k++) {
            for (long row : rows) {
                total = total * 3 + row;
            }
        }
        return total;
    }
}
