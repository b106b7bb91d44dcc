package org.yunti.hadoop.warm;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.yunti.hadoop.report.Submission;
import org.yunti.hadoop.submit.WordCount;

/**
 * {@code yunti hadoop warm}: makes the archives of classes for this cluster and class path. It runs a small job whose
 * three JVMs (map, reduce, application master) write an archive of what they loaded when they end. Exit code 0 if the
 * archives are made, else 1 with one line of why.
 */
public final class MakeArchives extends Configured implements Tool {
  private static final int LINES = 2000;
  private static final short OWN = 0700;
  /** Priority of the shutdown hook: after the one that kills the job (50), before the one of file systems (10). */
  private static final int REMOVE_PRIORITY = 40;
  /** File of a recording that says why there is no archive. */
  private static final String FAILED = "failed";

  /** Setting of Hadoop: milliseconds that a task's JVM has to end after its task. */
  private static final String EXIT_TIMEOUT = "mapreduce.task.exit.timeout";

  private static final Pattern PLATFORM = Pattern.compile("^OS_ARCH=\"(.*)\"$", Pattern.MULTILINE);

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new JobConf(), new MakeArchives(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length > 0) {
      return failed("there is no argument " + arguments[0] + ": yunti hadoop warm [-D KEY=VALUE ..]");
    }
    Configuration conf = getConf();
    if (!MRConfig.YARN_FRAMEWORK_NAME.equals(conf.get(MRConfig.FRAMEWORK_NAME))) {
      String framework = conf.get(MRConfig.FRAMEWORK_NAME);
      return failed("archives are for jobs on YARN, and " + MRConfig.FRAMEWORK_NAME + " is " + framework);
    }
    org.apache.hadoop.fs.Path archive = WarmStart.location(conf);
    FileSystem files = archive.getFileSystem(conf);
    String name = "recording-" + UUID.randomUUID();
    org.apache.hadoop.fs.Path folder = new org.apache.hadoop.fs.Path(WarmStart.folder(conf), name);
    Path local = Files.createTempDirectory("yunti-warm-");
    Runnable remover = () -> remove(files, folder, local);
    ShutdownHookManager.get().addShutdownHook(remover, REMOVE_PRIORITY);
    try {
      files.mkdirs(folder, new FsPermission(OWN));
      Job job = job(conf, files, folder, local);
      System.out.println("recording a job of one map and one reduce");
      if (!new Submission(false).run(job)) {
        return failed("the recorded job failed: " + job.getStatus().getFailureInfo());
      }
      for (String[] kind : WarmStart.KINDS) {
        org.apache.hadoop.fs.Path made = new org.apache.hadoop.fs.Path(folder, kind[0]);
        if (!RecordedOutput.await(files, made)) {
          return failed("the JVM of the " + kind[0] + " left none: see its stdout in the logs of " + job.getJobID());
        }
        FileUtil.copy(files, made, local.resolve(kind[0]).toFile(), false, conf);
      }
      String why = difference(local);
      if (why != null) {
        return failed(why);
      }
      pack(local, files, archive);
      System.out.printf(
          "%s: %d MiB. Set %s to true%n", archive, files.getFileStatus(archive).getLen() >> 20, WarmStart.SETTING);
      return 0;
    } finally {
      if (!ShutdownHookManager.get().isShutdownInProgress()) {
        ShutdownHookManager.get().removeShutdownHook(remover);
        remove(files, folder, local);
      }
    }
  }

  private static void remove(FileSystem files, org.apache.hadoop.fs.Path folder, Path local) {
    FileUtil.fullyDelete(local.toFile());
    try {
      files.delete(folder, true);
    } catch (IOException e) {
      System.err.println("yunti: cannot remove the recording: " + folder + ": " + e.getMessage());
    }
  }

  private static int failed(String why) {
    System.err.println("yunti: no archives of classes: " + why);
    return 1;
  }

  private static Job job(Configuration of, FileSystem files, org.apache.hadoop.fs.Path folder, Path local)
      throws IOException {
    Configuration conf = new Configuration(of);
    conf.setBoolean(WarmStart.SETTING, false);
    WordCount.useNativeCode(conf);
    conf.setBoolean(MRJobConfig.JOB_UBERTASK_ENABLE, false);
    conf.setBoolean(MRJobConfig.MAP_SPECULATIVE, false);
    conf.setBoolean(MRJobConfig.REDUCE_SPECULATIVE, false);
    conf.setLong(EXIT_TIMEOUT, RecordedOutput.WAIT_MS);
    conf.set(RecordedOutput.FOLDER, folder.toString());
    Path script = local.resolve(WarmStart.NAME + ".sh");
    try (InputStream in = MakeArchives.class.getResourceAsStream(WarmStart.SCRIPT)) {
      Files.copy(in, script);
    }
    conf.set("tmpfiles", script.toUri().toString());
    for (String[] kind : WarmStart.KINDS) {
      WarmStart.addOptions(conf, kind, "$(sh " + script.getFileName() + " record " + kind[0] + " " + folder + ")");
    }
    try (FSDataOutputStream out = files.create(new org.apache.hadoop.fs.Path(folder, "in/text"))) {
      for (int i = 0; i < LINES; i++) {
        out.write(("a line of words " + i + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
    Job job = WordCount.job(conf, "yunti hadoop warm", new org.apache.hadoop.fs.Path(folder, "in"),
        new org.apache.hadoop.fs.Path(folder, "out"));
    job.setJarByClass(MakeArchives.class);
    job.setCombinerClass(IntSumReducer.class);
    job.setOutputFormatClass(RecordedOutput.class);
    job.setNumReduceTasks(1);
    return job;
  }

  /** Returns why the recordings make no archives, or null. They may come from nodes that differ. */
  private static String difference(Path local) throws IOException {
    for (String[] kind : WarmStart.KINDS) {
      Path made = local.resolve(kind[0]);
      if (Files.exists(made.resolve(FAILED))) {
        return new String(Files.readAllBytes(made.resolve(FAILED)), StandardCharsets.UTF_8).trim();
      }
      if (!Files.exists(made.resolve(kind[0] + ".jsa"))) {
        return "the JVM of the " + kind[0] + " wrote none: see its container's stdout in the logs";
      }
      for (String file : new String[] {"java", "entries", "class-path"}) {
        byte[] first = Files.readAllBytes(local.resolve("map").resolve(file));
        if (!Arrays.equals(Files.readAllBytes(made.resolve(file)), first)) {
          return "two nodes, or two kinds of containers, have different " + (file.equals("java") ? "Javas" : "jars")
              + "; run it again when the nodes are alike";
        }
      }
    }
    return null;
  }

  /** Packs the recordings and copies them to the cluster. A half copy never has the name that jobs look for. */
  private static void pack(Path local, FileSystem files, org.apache.hadoop.fs.Path archive) throws IOException {
    org.apache.hadoop.fs.Path part = archive.suffix(".part");
    Path map = local.resolve("map");
    try (TarFile tar = new TarFile(new GZIPOutputStream(files.create(part, true), 1 << 16))) {
      File[] shared = map.toFile().listFiles((folder, name) -> !name.endsWith(".jsa") && !name.startsWith("."));
      Arrays.sort(shared);
      for (File file : shared) {
        tar.add(file.getName(), file.toPath());
      }
      tar.add(WarmStart.SCRIPT, local.resolve(WarmStart.NAME + ".sh"));
      Path library = local.resolve("library");
      Matcher platform = PLATFORM.matcher(new String(Files.readAllBytes(map.resolve("java")), StandardCharsets.UTF_8));
      String processor = platform.find() ? platform.group(1) : "";
      String resource = "/org/yunti/hadoop/native/linux-" + processor + "/libyunti_hadoop.so";
      try (InputStream in = MakeArchives.class.getResourceAsStream(resource)) {
        if (in != null) {
          Files.copy(in, library, StandardCopyOption.REPLACE_EXISTING);
          tar.add("libyunti_hadoop.so", library);
        }
      }
      for (String[] kind : WarmStart.KINDS) {
        tar.add(kind[0] + ".jsa", local.resolve(kind[0]).resolve(kind[0] + ".jsa"));
      }
    }
    files.delete(archive, false);
    if (!files.rename(part, archive)) {
      throw new IOException("cannot rename " + part + " to " + archive);
    }
  }
}
