package org.yunti.hadoop.warm;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settings of a job whose JVMs start from the archives that {@code yunti hadoop warm} made. The archives travel by the
 * distributed cache; in a container, {@code warm.sh} decides whether they fit the node.
 */
public final class WarmStart {
  /** Setting: true to start JVMs from archives if there are some. */
  public static final String SETTING = "yunti.hadoop.warm";

  /** Name of the archives' directory in a container; also in warm.sh. */
  static final String NAME = "yunti-warm";

  /** Place of warm.sh in the jar. */
  static final String SCRIPT = "warm.sh";

  /** Kinds of JVMs, as warm.sh calls them, and their settings: name, and Hadoop's default. */
  static final String[][] KINDS = {
    {"map", MRJobConfig.MAPRED_MAP_ADMIN_JAVA_OPTS, MRJobConfig.DEFAULT_MAPRED_ADMIN_JAVA_OPTS},
    {"reduce", MRJobConfig.MAPRED_REDUCE_ADMIN_JAVA_OPTS, MRJobConfig.DEFAULT_MAPRED_ADMIN_JAVA_OPTS},
    {"am", MRJobConfig.MR_AM_ADMIN_COMMAND_OPTS, MRJobConfig.DEFAULT_MR_AM_ADMIN_COMMAND_OPTS},
  };

  private static final Logger LOG = LoggerFactory.getLogger(WarmStart.class);

  private WarmStart() {}

  /** Adds the archives to a job that asks for them; logs one line if there are none or they cannot be looked up. */
  public static void apply(Configuration conf) {
    try {
      addArchives(conf);
    } catch (IOException | RuntimeException e) {
      LOG.warn("the job starts without archives of classes: {}", e.toString());
    }
  }

  private static void addArchives(Configuration conf) throws IOException {
    if (!conf.getBoolean(SETTING, false) || !MRConfig.YARN_FRAMEWORK_NAME.equals(conf.get(MRConfig.FRAMEWORK_NAME))) {
      return;
    }
    String archives = conf.get(MRJobConfig.CACHE_ARCHIVES, "");
    if (archives.contains("#" + NAME)) {
      return;
    }
    Path archive = location(conf);
    if (!exist(conf)) {
      LOG.warn(
          "{} is set, but this cluster, class path and plug-in have no archives of classes: yunti hadoop warm makes"
              + " them. The job starts without",
          SETTING);
      return;
    }
    URI uri = archive.getFileSystem(conf).makeQualified(archive).toUri();
    conf.set(MRJobConfig.CACHE_ARCHIVES, (archives.isEmpty() ? "" : archives + ",") + uri + "#" + NAME);
    for (String[] kind : KINDS) {
      addOptions(conf, kind, "$(sh " + NAME + "/" + SCRIPT + " options " + kind[0] + ")");
    }
  }

  /** Returns true if there are archives for these settings. */
  public static boolean exist(Configuration conf) throws IOException {
    Path archive = location(conf);
    return archive.getFileSystem(conf).exists(archive);
  }

  /** Puts words before the administrator's options of a kind of JVM, so that those and the user's win. */
  static void addOptions(Configuration conf, String[] kind, String words) {
    conf.set(kind[1], (words + " " + conf.get(kind[1], kind[2])).trim());
  }

  /**
   * Returns the place of the archives for these settings: in the user's staging directory, named by what the client
   * knows of the class path. What only a node knows (its Java, its jars) is in the archives, and compared there.
   */
  static Path location(Configuration conf) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (String setting :
          new String[] {
            "yarn.application.classpath", MRJobConfig.MAPREDUCE_APPLICATION_CLASSPATH,
            MRJobConfig.MAPREDUCE_APPLICATION_FRAMEWORK_PATH
          }) {
        digest.update((conf.get(setting, "") + "\n").getBytes(StandardCharsets.UTF_8));
      }
      digest.update(VersionInfo.getBuildVersion().getBytes(StandardCharsets.UTF_8));
      URL location = WarmStart.class.getProtectionDomain().getCodeSource().getLocation();
      if (location.getPath().endsWith("/")) {
        throw new IOException("the plug-in is no jar: put it on HADOOP_CLASSPATH: " + location);
      }
      try (InputStream jar = location.openStream()) {
        byte[] buffer = new byte[1 << 16];
        for (int n = jar.read(buffer); n >= 0; n = jar.read(buffer)) {
          digest.update(buffer, 0, n);
        }
      }
      StringBuilder key = new StringBuilder();
      byte[] bytes = digest.digest();
      for (int i = 0; i < Long.BYTES; i++) {
        key.append(String.format("%02x", bytes[i]));
      }
      return new Path(folder(conf), key + ".tar.gz");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java has it.
    }
  }

  /** Returns the directory of the archives, in the directory where Hadoop stages this user's jobs. */
  static Path folder(Configuration conf) throws IOException {
    String root = conf.get(MRJobConfig.MR_AM_STAGING_DIR, MRJobConfig.DEFAULT_MR_AM_STAGING_DIR);
    return new Path(root + "/" + UserGroupInformation.getCurrentUser().getShortUserName() + "/.staging/" + NAME);
  }
}
