package org.yunti.hadoop.runner.record;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.files.PrivateDirectory;

/**
 * Directory of one job that stays after its end: its history, its settings, and the logs of its attempts.
 *
 * <pre>
 *   ~/.local/state/yunti/hadoop/job_.._0001/job_.._0001.jhist      mapred job -history FILE
 *                                          /job_.._0001_conf.xml
 *                                          /attempt_.._m_000000_0/stdout, stderr, syslog
 * </pre>
 *
 * <p>The oldest jobs are deleted when there are more than {@code yunti.hadoop.record.jobs}.
 */
public final class JobRecord {
  /** Directory of the records of all jobs of a user. */
  public static final String DIRECTORY = "yunti.hadoop.record.dir";
  /** Number of jobs whose records are kept. */
  public static final String JOBS_MAX = "yunti.hadoop.record.jobs";

  private static final int JOBS_MAX_DEFAULT = 200;
  /** Jobs of one program between two times that old records are deleted. */
  private static final int PRUNE_JOBS = 50;

  private static final AtomicInteger ENDED = new AtomicInteger();
  private static final Logger LOG = LoggerFactory.getLogger(JobRecord.class);

  private final File directory;
  private final String job;

  public JobRecord(Configuration conf, String job) {
    this.job = job;
    directory = new File(root(conf), job);
  }

  /** Returns the directory of all records. */
  public static File root(Configuration conf) {
    String named = conf.get(DIRECTORY);
    if (named != null) {
      return new File(named);
    }
    String state = System.getenv("XDG_STATE_HOME");
    File base = state == null || state.isEmpty()
        ? new File(System.getProperty("user.home"), ".local/state") : new File(state);
    return new File(base, "yunti/hadoop");
  }

  public File directory() {
    return directory;
  }

  /** Returns the directory as a URL, which ends with a slash: clients check that it ends with the job's number. */
  public String url() {
    String url = directory.toURI().toString();
    return url.endsWith("/") ? url : url + "/";
  }

  /** Returns the directory of an attempt's logs. It exists once the attempt wrote some. */
  public File logs(String attempt) {
    return new File(directory, attempt);
  }

  public File history() {
    return new File(directory, job + ".jhist");
  }

  public File settings() {
    return new File(directory, job + "_conf.xml");
  }

  /** Copies the job's settings, as they were submitted. */
  public void write(Path submitted, Configuration conf) throws IOException {
    make();
    File part = new File(directory, settings().getName() + ".part");
    try (InputStream in = submitted.getFileSystem(conf).open(submitted)) {
      Files.copy(in, part.toPath(), StandardCopyOption.REPLACE_EXISTING);
    }
    if (!part.renameTo(settings())) {
      throw new IOException("cannot rename " + part);
    }
  }

  /** Creates the directory. */
  public void make() throws IOException {
    PrivateDirectory.make(directory);
  }

  /** Deletes the records of the oldest jobs, now and then. */
  public void prune(Configuration conf) {
    if (ENDED.getAndIncrement() % PRUNE_JOBS != 0) {
      return;
    }
    File[] jobs = directory.getParentFile().listFiles((parent, name) -> name.startsWith("job_"));
    int keep = conf.getInt(JOBS_MAX, JOBS_MAX_DEFAULT);
    if (jobs == null || jobs.length <= keep) {
      return;
    }
    Arrays.sort(jobs); // Their names begin with the time of their program's start.
    for (int i = 0; i < jobs.length - keep; i++) {
      if (!jobs[i].equals(directory) && !FileUtil.fullyDelete(jobs[i])) {
        LOG.warn("cannot delete the record of an old job: {}", jobs[i]);
      }
    }
  }
}
