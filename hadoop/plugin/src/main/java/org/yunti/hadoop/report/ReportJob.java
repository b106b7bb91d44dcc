package org.yunti.hadoop.report;

import java.io.File;
import java.io.IOException;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** {@code yunti hadoop report}: writes the facts of a finished job to a file. Arguments: job id, file. */
public final class ReportJob extends Configured implements Tool {
  private static final int USAGE = 2;
  private static final int INPUT = 3;

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new ReportJob(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      return fail(USAGE, "JOB_ID and FILE are required");
    }
    JobID id;
    try {
      id = JobID.forName(arguments[0]);
    } catch (IllegalArgumentException e) {
      return fail(USAGE, "this is no job: " + arguments[0] + ": write job_TIMESTAMP_NUMBER; mapred job -list all prints them");
    }
    Cluster cluster = new Cluster(getConf());
    try {
      Job job = id == null ? null : cluster.getJob(id);
      if (job == null || job.getStatus() == null) {
        return unknown(id);
      }
      if (!job.isComplete()) {
        return fail(INPUT, "the job has not finished yet: " + id + ": try again after its end");
      }
      JobFacts.ofHistory(job).write(new File(arguments[1]), Collections.emptyList());
      return 0;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).contains("Unknown Job")) {
        return unknown(id);
      }
      throw e;
    } finally {
      cluster.close();
    }
  }

  private static int unknown(JobID id) {
    return fail(INPUT, "there is no job " + id + ": neither the cluster nor its history server knows it");
  }

  private static int fail(int code, String message) {
    System.err.println("yunti: " + message);
    return code;
  }
}
