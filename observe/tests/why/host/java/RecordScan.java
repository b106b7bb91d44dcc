import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Reads the records of a mapped file in order. */
final class RecordScan {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        try (FileChannel file = FileChannel.open(Path.of(run.args[0], "data"))) {
            MappedByteBuffer records = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            long sum = 0;
            run.ready();
            for (int at = 0; run.going(); at = at + 4096 < records.limit() ? at + 4096 : 0) {
                for (int i = at; i < at + 4096; i += 64) {
                    sum = sum * 31 + records.getLong(i);
                }
                run.done();
            }
            run.finish();
        }
    }
}
