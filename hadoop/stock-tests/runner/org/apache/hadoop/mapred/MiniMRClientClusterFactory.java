package org.apache.hadoop.mapred;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.JarFinder;

/**
 * Takes the place of the class of this name in Hadoop's tests: a cluster without daemons, whose jobs run in the test's
 * JVM. As on a cluster, the jar of the caller is on the class path of its jobs.
 */
public class MiniMRClientClusterFactory {
  public static MiniMRClientCluster create(Class<?> caller, int nodes, Configuration conf) throws IOException {
    return create(caller, caller.getSimpleName(), nodes, conf);
  }

  public static MiniMRClientCluster create(Class<?> caller, String name, int nodes, Configuration conf)
      throws IOException {
    Job job = Job.getInstance(conf == null ? new Configuration() : conf);
    FileSystem system = FileSystem.get(job.getConfiguration());
    Path jar = new Path(JarFinder.getJar(caller, name));
    Path there = system.makeQualified(new Path(new Path("target", name + "-tmpDir"), jar.getName()));
    system.copyFromLocalFile(jar, there);
    system.setPermission(there, new FsPermission("744"));
    job.addFileToClassPath(there);
    return new WithoutDaemons(job.getConfiguration());
  }

  private static final class WithoutDaemons implements MiniMRClientCluster {
    private final Configuration conf;

    WithoutDaemons(Configuration conf) {
      this.conf = conf;
    }

    @Override
    public void start() {}

    @Override
    public void restart() {}

    @Override
    public void stop() {}

    @Override
    public Configuration getConfig() {
      return conf;
    }
  }
}
