package org.yunti.hadoop.submit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.yunti.hadoop.report.TaskTime;
import org.yunti.hadoop.warm.WarmStart;

/**
 * {@code yunti hadoop check --tune}: runs the small job with several options of its JVMs, in turn, and prints what each
 * saves on this cluster, with the settings to paste.
 *
 * <p>The job measures the start of tasks. It says nothing about options that only long tasks feel, such as a
 * collector's threads. So each proposal names the jobs that it suits.
 */
final class Tune {
  private static final int ROUNDS = 2;
  private static final double MS_A_SECOND = 1000;

  private static final String SERIAL = "-XX:+UseSerialGC";
  private static final String LATE =
      "-XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=5000"
          + " -XX:Tier4CompileThreshold=40000 -XX:Tier4BackEdgeThreshold=120000";
  private static final String FIRST = "-XX:TieredStopAtLevel=1";

  private static final String AM_OPTIONS = MRJobConfig.MR_AM_COMMAND_OPTS;
  private static final String ALL_TASKS = "mapred.child.java.opts";
  private static final String[] TASK_OPTIONS = {MRJobConfig.MAP_JAVA_OPTS, MRJobConfig.REDUCE_JAVA_OPTS};

  /** Proposal: what it is, the jobs that it suits, its settings, and what its runs took. */
  private static final class Proposal {
    final String what;
    final String suits;
    final Map<String, String> settings = new LinkedHashMap<>();
    final List<Long> wallMs = new ArrayList<>();
    final List<Long> cpuMs = new ArrayList<>();
    String failure;

    Proposal(String what, String suits) {
      this.what = what;
      this.suits = suits;
    }

    Proposal with(String setting, String value) {
      settings.put(setting, value);
      return this;
    }
  }

  private final Configuration conf;

  Tune(Configuration conf) {
    this.conf = conf;
  }

  /** Runs all proposals and prints them. */
  void run() throws IOException, InterruptedException, ClassNotFoundException {
    List<Proposal> proposals = proposals();
    System.out.println("options of JVMs: the job with each, " + ROUNDS + " times in turn; the least time of each");
    for (int round = 0; round < ROUNDS; round++) {
      for (Proposal proposal : proposals) {
        measure(proposal);
      }
    }
    Proposal now = proposals.get(0);
    System.out.printf("  %-44s %9s %9s  %s%n", "", "tasks CPU", "job", "for");
    for (Proposal proposal : proposals) {
      if (proposal.failure != null) {
        System.out.printf("  %-44s failed: %s%n", proposal.what, proposal.failure);
        continue;
      }
      // Tasks in the application master have no JVM of their own, and its time is not theirs.
      boolean inMaster = proposal.settings.containsKey(MRJobConfig.JOB_UBERTASK_ENABLE);
      System.out.printf(
          "  %-44s %9s %8.1fs  %s%n",
          proposal.what,
          inMaster ? "" : String.format("%.2fs", least(proposal.cpuMs)),
          least(proposal.wallMs),
          proposal.suits);
    }
    for (Proposal proposal : proposals.subList(1, proposals.size())) {
      if (proposal.failure == null && isFaster(proposal, now)) {
        System.out.println("<!-- " + proposal.what + ": " + proposal.suits + " -->");
        proposal.settings.forEach(
            (name, value) -> System.out.printf("<property><name>%s</name><value>%s</value></property>%n", name, value));
      }
    }
  }

  /** Returns true if a proposal saves a twentieth: of the job's time if it acts on the master, else of the tasks'. */
  private static boolean isFaster(Proposal proposal, Proposal now) {
    final double clearly = 0.95;
    return proposal.settings.containsKey(MRJobConfig.JOB_UBERTASK_ENABLE) || proposal.settings.containsKey(AM_OPTIONS)
        ? least(proposal.wallMs) < clearly * least(now.wallMs)
        : least(proposal.cpuMs) < clearly * least(now.cpuMs);
  }

  private void measure(Proposal proposal) throws IOException, InterruptedException, ClassNotFoundException {
    Configuration with = new Configuration(conf);
    proposal.settings.forEach(with::set);
    SmallJob job = SmallJob.run(with);
    if (job.failure != null) {
      proposal.failure = job.failure;
      return;
    }
    proposal.wallMs.add(job.wallMs);
    proposal.cpuMs.add(TaskTime.cpuMs(job.counters));
  }

  private static double least(List<Long> ms) {
    return Collections.min(ms) / MS_A_SECOND;
  }

  private List<Proposal> proposals() throws IOException {
    List<Proposal> all = new ArrayList<>();
    all.add(new Proposal("as it is", ""));
    all.add(tasks("serial collector", "heaps up to 2 GB", SERIAL));
    all.add(tasks("optimising compiler later", "tasks up to a minute", SERIAL, LATE));
    all.add(tasks("first compiler only", "tasks up to ten seconds", SERIAL, FIRST));
    all.add(
        new Proposal("application master: serial, first compiler", "jobs up to 1,000 tasks")
            .with(AM_OPTIONS, options(conf.get(AM_OPTIONS, MRJobConfig.DEFAULT_MR_AM_COMMAND_OPTS), SERIAL, FIRST)));
    if (!WarmStart.exist(conf)) {
      System.out.println("archives of classes are not among them: yunti hadoop warm makes them");
    } else if (!conf.getBoolean(WarmStart.SETTING, false)) {
      all.add(new Proposal("archives of classes (yunti hadoop warm)", "short tasks").with(WarmStart.SETTING, "true"));
    }
    all.add(
        new Proposal("tasks in the application master (uber)", "up to 9 maps, 1 reduce, 1 block of input")
            .with(MRJobConfig.JOB_UBERTASK_ENABLE, "true"));
    // What is set already would be proposed by chance.
    all.subList(1, all.size()).removeIf(proposal -> proposal.settings.entrySet().stream().allMatch(this::isSet));
    return all;
  }

  private boolean isSet(Map.Entry<String, String> setting) {
    List<String> now = Arrays.asList(conf.get(setting.getKey(), "").trim().split("\\s+"));
    return now.containsAll(Arrays.asList(setting.getValue().split("\\s+")));
  }

  private Proposal tasks(String what, String suits, String... added) {
    Proposal proposal = new Proposal(what, suits);
    for (String setting : TASK_OPTIONS) {
      // Hadoop derives the heap from the container where no option names it.
      proposal.with(setting, options(conf.get(setting, conf.get(ALL_TASKS, "")), added));
    }
    return proposal;
  }

  /** Returns options without the ones that contradict the added ones. */
  static String options(String old, String... added) {
    List<String> all = new ArrayList<>(Arrays.asList(old.trim().split("\\s+")));
    all.removeIf(option -> option.matches("|-XX:\\+Use\\w*GC|-XX:TieredStopAtLevel=.*|-XX:Tier4.*"));
    all.addAll(Arrays.asList(added));
    return String.join(" ", all);
  }
}
