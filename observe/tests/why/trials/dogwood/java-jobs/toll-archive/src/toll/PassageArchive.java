package toll;

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.commons.io.FileUtils;
import org.apache.commons.io.comparator.LastModifiedFileComparator;
import org.apache.commons.io.filefilter.*;

class PassageArchive {
    private final File root;
    private final boolean folderPerPlaza;

    PassageArchive(File root, boolean folderPerPlaza) {
        this.root = root;
        this.folderPerPlaza = folderPerPlaza;
    }

    void receive(int plazas, int each) throws IOException {
        for (int n = 0; n < each; n++)
            for (int plaza = 0; plaza < plazas; plaza++)
                FileUtils.writeStringToFile(new File(folder(plaza), name(plaza) + n + ".json"),
                    "{\"plaza\":" + plaza + ",\"passage\":" + n
                        + ",\"class\":2,\"cents\":380}", StandardCharsets.UTF_8);
    }

    private File folder(int plaza) {
        return folderPerPlaza ? new File(root, "plaza-" + plaza) : root;
    }

    private String name(int plaza) {
        return "p" + plaza + "-";
    }

    byte[] latest(int plaza) throws IOException {
        File[] mine = folder(plaza).listFiles(
            (FileFilter) FileFilterUtils.and(FileFileFilter.INSTANCE, new PrefixFileFilter(name(plaza))));
        Arrays.sort(mine, LastModifiedFileComparator.LASTMODIFIED_REVERSE);
        return FileUtils.readFileToByteArray(mine[0]);
    }
}
