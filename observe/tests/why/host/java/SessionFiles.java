import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;

/**
 * Keeps sessions as files, each in a folder of its own that comes and goes. No sync; the file system's journal is
 * small.
 */
final class SessionFiles {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        Path root = Path.of(run.args[0]);
        run.ready();
        run.threads(6, "sessions", number -> {
            Path mine = Files.createDirectories(root.resolve("host-" + number));
            byte[] state = new byte[700];
            for (long i = 0; run.going(); i++) {
                Path folder = Files.createDirectory(mine.resolve("s" + i));
                Path draft = Files.write(folder.resolve("state.tmp"), state);
                Path kept = Files.move(draft, folder.resolve("state"), StandardCopyOption.ATOMIC_MOVE);
                Files.setLastModifiedTime(kept, FileTime.fromMillis(1_600_000_000_000L + i));
                if (i >= 300) {
                    Path old = mine.resolve("s" + (i - 300));
                    Files.delete(old.resolve("state"));
                    Files.delete(old);
                }
                run.done();
            }
        });
    }
}
