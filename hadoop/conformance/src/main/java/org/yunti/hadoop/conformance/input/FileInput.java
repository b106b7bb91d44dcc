package org.yunti.hadoop.conformance.input;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.yunti.hadoop.conformance.suite.Case;

/** Files with given bytes, for cases about the bytes themselves: line ends, codecs, one huge record. */
public final class FileInput {
  /** Source of the bytes; codecs need the configuration of the case. */
  @FunctionalInterface
  public interface Content {
    byte[] bytes(Configuration conf) throws Exception;
  }

  private FileInput() {}

  /** @param path folder and name: {@code text/a.txt} */
  public static Case.Input of(String path, Content content) {
    return trial -> {
      try (OutputStream out = trial.fileSystem().create(trial.input(path))) {
        out.write(content.bytes(trial.conf()));
      }
    };
  }

  public static Case.Input text(String path, String text) {
    return of(path, conf -> text.getBytes(StandardCharsets.UTF_8));
  }
}
