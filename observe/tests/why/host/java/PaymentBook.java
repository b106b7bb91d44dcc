import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** Books payments: four threads, each with a file that is forced to the disk after each payment. Cured: after 500. */
final class PaymentBook {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        Path folder = Path.of(run.args[0]);
        int payments = run.cured ? 500 : 1;
        run.ready();
        run.threads(4, "booking", number -> {
            try (FileChannel book = FileChannel.open(folder.resolve("book-" + number), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE)) {
                for (int booked = 1; run.going(); booked++) {
                    book.write(ByteBuffer.wrap(payment(number, booked)));
                    if (booked % payments == 0) {
                        book.force(false);
                    }
                    if (book.position() > 64 << 20) {
                        book.position(0);
                    }
                    run.done();
                }
            }
        });
    }

    static byte[] payment(int account, int number) {
        return ("{\"id\":\"" + new UUID(account, number) + "\",\"account\":" + account + ",\"amount\":"
                + number % 997 + ",\"currency\":\"EUR\"}\n")
            .getBytes(StandardCharsets.UTF_8);
    }
}
