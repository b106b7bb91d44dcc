package org.yunti.web.shrink;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.yunti.web.shrink.vtl.ShrinkException;

/** Folder of templates, which is read and written to another folder, with all other files copied. */
public final class TemplateFolder {
  private final Path folder;
  private final ShrinkOptions options;

  /**
   * Opens a folder.
   *
   * @throws ShrinkException if it is not a folder
   */
  public TemplateFolder(Path folder, ShrinkOptions options) throws ShrinkException {
    if (!Files.isDirectory(folder)) {
      throw new ShrinkException(folder + " is not a folder; name the root folder of #parse");
    }
    this.folder = folder;
    this.options = options;
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private String name(Path file) {
    return folder.relativize(file).toString().replace('\\', '/');
  }

  /**
   * Returns the sources of the templates by name.
   *
   * @throws ShrinkException if there is no template, or one is not in the charset
   */
  public Map<String, String> sources() throws IOException, ShrinkException {
    Map<String, String> sources = new LinkedHashMap<>();
    for (Path file : files()) {
      if (file.toString().endsWith(options.suffix())) {
        sources.put(name(file), read(file, options.charset()));
      }
    }
    if (sources.isEmpty()) {
      throw new ShrinkException(folder + " has no file whose name ends with " + options.suffix()
          + "; name another ending with --suffix");
    }
    return sources;
  }

  /**
   * Reads a file.
   *
   * @throws ShrinkException if the bytes are not in the charset
   */
  public static String read(Path file, Charset charset) throws IOException, ShrinkException {
    try {
      return charset.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT)
          .decode(ByteBuffer.wrap(Files.readAllBytes(file))).toString();
    } catch (CharacterCodingException e) {
      throw new ShrinkException(file + " is not in " + charset + "; name another charset with --charset");
    }
  }

  /**
   * Writes the templates to a folder and copies all other files; equal files stay untouched.
   *
   * @throws ShrinkException if the output is inside of this folder
   */
  public void write(Path output, List<ShrunkTemplate> templates) throws IOException, ShrinkException {
    Path from = folder.toRealPath();
    Path to = output.toAbsolutePath().normalize();
    if (to.startsWith(from) || Files.exists(output) && output.toRealPath().startsWith(from)) {
      throw new ShrinkException("the output " + output
          + " is in the folder of the templates; name a folder outside of it");
    }
    for (ShrunkTemplate template : templates) {
      put(output.resolve(template.name()), template.after().getBytes(options.charset()));
    }
    for (Path file : files()) {
      if (!file.toString().endsWith(options.suffix())) {
        put(output.resolve(name(file)), Files.readAllBytes(file));
      }
    }
  }

  private static void put(Path file, byte[] bytes) throws IOException {
    if (Files.isRegularFile(file) && Arrays.equals(Files.readAllBytes(file), bytes)) {
      return;
    }
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
  }
}
