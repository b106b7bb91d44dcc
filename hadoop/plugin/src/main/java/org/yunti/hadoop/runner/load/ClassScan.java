package org.yunti.hadoop.runner.load;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/**
 * Traits of a job's classes that tasks of one JVM would notice of each other. It reads all classes that the settings
 * name, and all whose code these run in turn, as far as they are in the job's jars.
 */
final class ClassScan {
  /** Classes that are read at most; a job with more is taken for one that keeps state. */
  private static final int CLASSES_MAX = 3000;

  /** Methods that write files or start programs, and so may use the working directory, which threads share. */
  private static final String[][] DIRECTORY_USES = {
    {"java/io/FileOutputStream", "<init>"}, {"java/io/FileWriter", "<init>"}, {"java/io/RandomAccessFile", "<init>"},
    {"java/io/PrintStream", "<init>"}, {"java/io/File", "createNewFile"}, {"java/io/File", "mkdir"},
    {"java/io/File", "mkdirs"}, {"java/io/File", "renameTo"}, {"java/nio/file/Files", "write"},
    {"java/nio/file/Files", "writeString"}, {"java/nio/file/Files", "newOutputStream"},
    {"java/nio/file/Files", "newBufferedWriter"}, {"java/nio/file/Files", "newByteChannel"},
    {"java/nio/file/Files", "copy"}, {"java/nio/file/Files", "move"}, {"java/nio/file/Files", "createFile"},
    {"java/nio/file/Files", "createDirectory"}, {"java/nio/file/Files", "createDirectories"},
    {"java/lang/ProcessBuilder", "<init>"}, {"java/lang/Runtime", "exec"}
  };

  private String state;
  private String nativeCode;
  private String hook;
  private String directory;
  private String halt;

  private ClassScan() {}

  /**
   * Reads the classes.
   *
   * @param jars finds the classes of the job and no others
   * @param roots names of classes; names that the jars lack are skipped
   */
  static ClassScan of(URLClassLoader jars, Iterable<String> roots) {
    ClassScan scan = new ClassScan();
    Set<String> known = new HashSet<>();
    Deque<String> left = new ArrayDeque<>();
    for (String root : roots) {
      if (known.add(root)) {
        left.add(root);
      }
    }
    int read = 0;
    while (!left.isEmpty()) {
      String name = left.poll();
      URL url = jars.findResource(name.replace('.', '/') + ".class");
      if (url == null) {
        continue;
      }
      if (++read > CLASSES_MAX) {
        scan.note(name, "is one of more than " + CLASSES_MAX + " classes");
        break;
      }
      try {
        ClassFile file = new ClassFile(bytes(url));
        scan.check(name, file);
        for (String next : file.classes()) {
          if (known.add(next)) {
            left.add(next);
          }
        }
      } catch (IOException e) {
        scan.note(name, "cannot be read");
      }
    }
    return scan;
  }

  /** Returns the bytes of a class, without keeping its jar open. */
  static byte[] bytes(URL url) throws IOException {
    URLConnection connection = url.openConnection();
    connection.setUseCaches(false);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (InputStream in = connection.getInputStream()) {
      byte[] buffer = new byte[8192];
      for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
        bytes.write(buffer, 0, length);
      }
    }
    return bytes.toByteArray();
  }

  private void check(String name, ClassFile file) {
    for (ClassFile.Member field : file.fields()) {
      // The compiler's own fields, such as the values of an enumeration, never change.
      if ((field.flags & (ClassFile.STATIC | ClassFile.SYNTHETIC)) == ClassFile.STATIC && changes(field)) {
        note(name + "." + field.name, "is a static field that can change");
      }
    }
    for (ClassFile.Member method : file.methods()) {
      if ((method.flags & ClassFile.NATIVE) != 0) {
        nativeCode = nativeCode == null ? name + "." + method.name + " is native" : nativeCode;
      }
    }
    if (file.calls("java/lang/System", "loadLibrary") || file.calls("java/lang/System", "load")) {
      nativeCode = nativeCode == null ? name + " loads a native library" : nativeCode;
    }
    for (String[] call : DIRECTORY_USES) {
      if (directory == null && file.calls(call[0], call[1])) {
        directory = name + " can write to its working directory, by " + call[0].replace('/', '.');
      }
    }
    if (file.calls("java/lang/Runtime", "addShutdownHook")) {
      hook = hook == null ? name + " adds a shutdown hook" : hook;
    }
    if (file.calls("java/lang/Runtime", "halt") || file.calls("java/lang/Runtime", "exit")) {
      halt = halt == null ? name + " ends its JVM by Runtime" : halt;
    }
  }

  private void note(String where, String why) {
    if (state == null) {
      state = where + " " + why;
    }
  }

  private static boolean changes(ClassFile.Member field) {
    if ((field.flags & ClassFile.FINAL) == 0) {
      return true;
    }
    String type = field.type;
    // Containers and numbers that change; objects that a task sets before each use do no harm.
    return type.startsWith("Ljava/util/concurrent/atomic/") || type.startsWith("[") && !type.equals("[Ljava/lang/String;")
        || type.equals("Ljava/lang/StringBuilder;") || type.equals("Ljava/lang/ThreadLocal;")
        || type.startsWith("Ljava/util/") && !type.startsWith("Ljava/util/regex/") && !type.equals("Ljava/util/Locale;")
            && !type.equals("Ljava/util/UUID;");
  }

  /** Returns the first static state, in words, or null. */
  String state() {
    return state;
  }

  /** Returns why the tasks need a working directory of their own, in words, or null. */
  String ownDirectory() {
    return directory;
  }

  /** Returns why the tasks need a JVM each, in words, or null. */
  String ownJvm() {
    return nativeCode != null ? nativeCode : hook != null ? hook : halt;
  }
}
