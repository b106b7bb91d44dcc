package org.yunti.hadoop.runner.launch;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.mapreduce.util.ConfigUtil;
import org.apache.hadoop.util.ShutdownHookManager;
import org.yunti.hadoop.runner.files.JarContents;
import org.yunti.hadoop.runner.job.JobRun;

/**
 * Main program of {@code yunti hadoop run}: the main class of a jar, found as {@code hadoop jar} finds it, with the
 * framework {@code yunti} as its default.
 *
 * <pre>
 *   RunJob app.jar [MAIN_CLASS] [ARGUMENT ..]
 * </pre>
 */
public final class RunJob {
  private static final int USAGE = 2;
  private static final int INPUT = 3;
  private static final long WATCH_MS = 100;
  private static final Pattern UNPACKED = Pattern.compile("(?:classes/|lib/).*");

  private RunJob() {}

  public static void main(String[] arguments) throws Throwable {
    Method main;
    String[] rest;
    try {
      File jar = new File(arguments[0]);
      String named = mainOf(jar);
      if (named == null && arguments.length < 2) {
        throw new Wrong(USAGE, jar + " names no main class: give one after the jar");
      }
      String main0 = named == null ? arguments[1] : named;
      rest = Arrays.copyOfRange(arguments, named == null ? 2 : 1, arguments.length);
      ClassLoader loader = loader(jar);
      Thread.currentThread().setContextClassLoader(loader);
      useRunner();
      main = find(main0.replace('/', '.'), loader, jar);
    } catch (Wrong e) {
      System.err.println("yunti: " + e.getMessage());
      System.exit(e.code);
      return;
    }
    try {
      main.invoke(null, (Object) rest);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    Thread watch = new Thread(RunJob::endWithProgram, "yunti end");
    watch.setDaemon(true);
    watch.start();
  }

  /**
   * Ends the JVM when only threads of attempts are left. On a cluster they end with the task's JVM, and do not hold the
   * program.
   */
  private static void endWithProgram() {
    while (true) {
      boolean isHeld = false;
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        boolean isOfProgram = !thread.isDaemon() && !thread.getName().equals("DestroyJavaVM");
        isHeld |= isOfProgram && !JobRun.isOfAttempt(thread);
      }
      if (!isHeld) {
        System.exit(0);
      }
      try {
        Thread.sleep(WATCH_MS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Mistake of the command line. */
  private static final class Wrong extends Exception {
    private static final long serialVersionUID = 1;

    final int code;

    Wrong(int code, String message) {
      super(message);
      this.code = code;
    }
  }

  private static String mainOf(File jar) throws Wrong {
    if (!jar.isFile()) {
      throw new Wrong(INPUT, "there is no jar " + jar);
    }
    try (JarFile file = new JarFile(jar)) {
      Manifest manifest = file.getManifest();
      return manifest == null ? null : manifest.getMainAttributes().getValue("Main-Class");
    } catch (IOException e) {
      throw new Wrong(INPUT, jar + " is no jar: " + e.getMessage());
    }
  }

  /** Returns the loader of the jar, and of the directories classes and lib in it. */
  private static ClassLoader loader(File jar) throws IOException {
    List<URL> found = new ArrayList<>();
    found.add(jar.toURI().toURL());
    if (JarContents.hasInner(jar, UNPACKED)) {
      File unpacked = Files.createTempDirectory("yunti-jar-").toFile();
      // After the jobs, which a program may leave behind at its end.
      ShutdownHookManager.get().addShutdownHook(() -> FileUtil.fullyDelete(unpacked), 1);
      found.addAll(JarContents.unpack(jar, unpacked, UNPACKED));
    }
    return new URLClassLoader(found.toArray(new URL[0]), RunJob.class.getClassLoader());
  }

  private static Method find(String name, ClassLoader loader, File jar) throws Wrong {
    try {
      Method main = Class.forName(name, true, loader).getMethod("main", String[].class);
      if (Modifier.isStatic(main.getModifiers())) {
        main.setAccessible(true); // The class need not be public.
        return main;
      }
    } catch (ClassNotFoundException e) {
      throw new Wrong(USAGE, "there is no class " + name + " in " + jar);
    } catch (NoSuchMethodException e) {
      // Reported below.
    }
    throw new Wrong(USAGE, name + " has no static method main(String[])");
  }

  /** Makes this framework the default of every job, over the files of a cluster. */
  static void useRunner() {
    ConfigUtil.loadResources(); // Resources that are added later come first.
    Configuration.addDefaultResource("org/yunti/hadoop/runner/runner.xml");
  }
}
