import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Serves documents from a mapped file that would fit into the cache. */
final class DocumentStore {
    static volatile long sum;

    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        try (FileChannel file = FileChannel.open(Path.of(run.args[0], "data"))) {
            MappedByteBuffer documents = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            run.ready();
            run.threads(3, "documents", number -> {
                SplittableRandom random = new SplittableRandom(number);
                long own = 0;
                while (run.going()) {
                    int at = random.nextInt(documents.limit() / 4096) * 4096;
                    for (int i = 0; i < 4096; i += 16) {
                        own = own * 31 + documents.getLong(at + i);
                    }
                    run.done();
                }
                sum += own;
            });
        }
    }
}
