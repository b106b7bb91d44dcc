package org.yunti.hadoop.conformance.suite;

import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** Program in two versions: a job of Java classes, and a job of native tasks. Both read and write the same folders. */
public final class Twin {
  /** Reason for different byte counts of a reader: stock counts the bytes that it took from the file system. */
  public static final String READ_AHEAD = "readers differ in how far they read past the end of a split";

  public static final String SPILLS = "repeated combining depends on the number of spills, and native tasks have no Java objects in their buffer";

  private static final int REDUCES = 3;

  private Twin() {}

  /** @param folder of the input, as the case's {@link Case.Input} names it */
  public static Case of(String name, String folder, Case.Tweak java, NativeJob nativeJob) {
    return of(name, folder, REDUCES, java, nativeJob);
  }

  /** @param reduces 0 for a job of maps alone */
  public static Case of(String name, String folder, int reduces, Case.Tweak java, NativeJob nativeJob) {
    return Case.of("native/" + name)
        .body(trial -> {
          Job job = Job.getInstance(trial.conf());
          FileInputFormat.addInputPath(job, trial.input(folder));
          FileOutputFormat.setOutputPath(job, trial.output("out"));
          job.setNumReduceTasks(reduces);
          java.apply(job);
          trial.submit(trial.tweaked(job));
        })
        .nativeBody(trial -> nativeJob.run(trial, folder, reduces));
  }

  /** Returns a twin whose native classes are in the suite's C++ library. */
  public static Case ofLibrary(String name, String folder, int reduces, Case.Tweak java, NativeJob nativeJob) {
    return of(name, folder, reduces, java, nativeJob.withLibrary()).skippedIf(conf -> Library.obstacle());
  }

  /** Returns the case with splits that end within records. */
  public static Case cut(Case twin, int splitBytes) {
    return twin.set("mapreduce.input.fileinputformat.split.maxsize", splitBytes).counterMayDiffer("BYTES_READ", READ_AHEAD);
  }

  /** Returns the case with the many spills that the smallest buffer makes of a large input. */
  public static Case spilling(Case twin) {
    return twin.set("mapreduce.task.io.sort.mb", 1).set("mapreduce.map.sort.spill.percent", "0.1").mustSpill();
  }

  /** Returns the case for a combiner that sees records of several spills. */
  public static Case combinedInSpills(Case twin) {
    for (String counter : new String[] {"COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS", "REDUCE_INPUT_RECORDS"}) {
      twin.counterMayDiffer(counter, SPILLS);
    }
    return spilling(twin);
  }
}
