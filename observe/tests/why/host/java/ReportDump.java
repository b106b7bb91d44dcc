import java.io.BufferedWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** Dumps reports as text by two threads, one file of 8 MB after another. */
final class ReportDump {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        Path folder = Path.of(run.args[0]);
        run.ready();
        run.threads(2, "reports", number -> {
            for (int report = 0; run.going(); report++) {
                Path file = folder.resolve("report-" + number + "-" + report % 12);
                try (BufferedWriter out = Files.newBufferedWriter(file)) {
                    for (int row = 0; row < 80_000 && run.going(); row++) {
                        out.write(row + ";" + report + ";customer " + row % 1009 + ";" + row * 31L
                                + ";open;2024-03-01;a remark that is always the same one\n");
                        if (row % 1000 == 0) {
                            run.done();
                        }
                    }
                }
            }
        });
    }
}
