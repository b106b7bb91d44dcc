import java.io.File;

/**
 * Searches for files that are ready in a folder of 200,000, by File.listFiles. Cured: in a folder of ready files
 * only.
 */
final class InboxPoller {
    public static void main(String[] words) throws Exception {
        Run run = new Run(words);
        File folder = new File(run.args[0], run.cured ? "few" : "many");
        run.ready();
        long found = 0;
        while (run.going()) {
            for (File file : folder.listFiles()) {
                if (file.getName().endsWith(".ready")) {
                    found++;
                }
            }
            run.done();
        }
        run.finish();
    }
}
