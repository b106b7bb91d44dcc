package org.yunti.hadoop.conformance.input;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Trial;

/** Text files of drawn lines. */
public final class TextInput implements Case.Input {
  private final Draw<String> lines;
  private final String folder;
  private final int files;
  private final int linesPerFile;

  public TextInput(Draw<String> lines, String folder, int files, int linesPerFile) {
    this.lines = lines;
    this.folder = folder;
    this.files = files;
    this.linesPerFile = linesPerFile;
  }

  /** Returns lines from a dozen words with natural-language frequencies, so that combiners have work. */
  public static TextInput words(int files, int linesPerFile) {
    return new TextInput(TextInput::lineOfWords, "text", files, linesPerFile);
  }

  private static String lineOfWords(Random random, int line) {
    StringBuilder text = new StringBuilder();
    for (int word = random.nextInt(13); word >= 0; word--) {
      double rank = Math.pow(2000, random.nextDouble());
      text.append("word".substring((int) rank % 4)).append((int) rank * 7919 % 2003);
      text.append(word == 0 ? "" : " ");
    }
    return text.toString();
  }

  @Override
  public void write(Trial trial) throws Exception {
    for (int file = 0; file < files; file++) {
      Random random = new Random(0x54455854L * 31 + file);
      try (OutputStream out = trial.fileSystem().create(trial.input(folder + "/text-" + file + ".txt"))) {
        StringBuilder text = new StringBuilder();
        for (int line = 0; trial.scale().more(linesPerFile, line, text.length()); line++) {
          text.append(lines.draw(random, line)).append('\n');
        }
        out.write(text.toString().getBytes(StandardCharsets.UTF_8));
      }
    }
  }
}
