package org.yunti.namenode.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ExitUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.namenode.lock.PhasedFineGrainedLockManager;
import org.yunti.namenode.lock.PhasedLockManager;

/** Line and exit code of a NameNode with a wrong setting. */
class WrongSettingTest {
  private final Configuration conf = new Configuration(false);

  @BeforeEach
  void disableExit() {
    ExitUtil.disableSystemExit();
    ExitUtil.resetFirstExitException();
  }

  @Test
  void namesTheFile(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("hdfs-site.xml"),
        "<configuration><property><name>yunti.namenode.lock.preset</name><value>fast</value></property>"
            + "</configuration>");
    conf.addResource(new org.apache.hadoop.fs.Path(file.toUri()));
    String line = "the NameNode does not start: file:" + file
        + ": yunti.namenode.lock.preset is 'fast'; give throughput or balanced";
    for (ExitUtil.ExitException exit : new ExitUtil.ExitException[] {
             assertThrows(ExitUtil.ExitException.class, () -> new PhasedLockManager(conf, null)),
             assertThrows(ExitUtil.ExitException.class, () -> new PhasedFineGrainedLockManager(conf, null))}) {
      assertEquals(1, exit.status);
      assertEquals(line, exit.getMessage());
    }
  }
}
