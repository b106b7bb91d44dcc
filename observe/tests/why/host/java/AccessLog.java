import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes 200 lines a second, and forces them to the disk once a second. Nothing is wrong. */
final class AccessLog {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        try (FileChannel log = FileChannel.open(Path.of(run.args[0], "access.log"), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE)) {
            run.ready();
            for (int line = 1; run.going(); line++) {
                log.write(ByteBuffer.wrap(("127.0.0.1 GET /item/" + line + " 200\n").getBytes()));
                if (line % 200 == 0) {
                    log.force(false);
                }
                Thread.sleep(5);
                run.done();
            }
        }
        run.finish();
    }
}
