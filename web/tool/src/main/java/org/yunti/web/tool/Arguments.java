package org.yunti.web.tool;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/** Arguments of a command: one positional argument, and options. */
final class Arguments {
  private final String command;
  private final Map<String, String> options = new HashMap<>();
  private String subject;

  /**
   * Parses the arguments.
   *
   * @param withValue options that take a value
   */
  Arguments(String command, String[] words, Set<String> withValue, Set<String> flags) throws UsageException {
    this.command = command;
    for (int i = 1; i < words.length; i++) {
      String word = words[i];
      String option = word.startsWith("--") ? word.substring(2) : null;
      if (option == null) {
        if (subject != null) {
          throw new UsageException(command + ": two arguments, \"" + subject + "\" and \"" + word + "\"; give one");
        }
        subject = word;
      } else if (flags.contains(option)) {
        options.put(option, "");
      } else if (withValue.contains(option)) {
        if (i + 1 == words.length) {
          throw new UsageException(command + ": " + word + " needs a value after it");
        }
        options.put(option, words[++i]);
      } else {
        throw new UsageException(command + ": " + word
            + " is not an option; java -jar yunti-velocity-tool.jar help lists them");
      }
    }
  }

  Path subject(String what) throws UsageException {
    if (subject == null) {
      throw new UsageException(command + ": " + what + " is missing");
    }
    Path path = Path.of(subject);
    if (!Files.exists(path)) {
      throw new UsageException(command + ": " + subject + " does not exist");
    }
    return path;
  }

  boolean has(String option) {
    return options.containsKey(option);
  }

  String get(String option) {
    return options.get(option);
  }

  String get(String option, String otherwise) {
    return options.getOrDefault(option, otherwise);
  }

  String required(String option, String what) throws UsageException {
    if (!has(option)) {
      throw new UsageException(command + ": --" + option + " " + what + " is missing");
    }
    return get(option);
  }

  Charset charset() throws UsageException {
    try {
      return Charset.forName(get("charset", "UTF-8"));
    } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
      throw new UsageException(command + ": " + get("charset") + " is not a charset of this Java");
    }
  }

  /** Returns the application's Velocity properties. */
  Properties properties() throws UsageException {
    Properties properties = new Properties();
    if (has("properties")) {
      try (Reader reader = Files.newBufferedReader(Path.of(get("properties")), StandardCharsets.UTF_8)) {
        properties.load(reader);
      } catch (IOException | IllegalArgumentException e) {
        throw new UsageException(command + ": the properties " + get("properties") + " cannot be read: "
            + e.getMessage());
      }
    }
    return properties;
  }
}
