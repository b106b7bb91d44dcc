package org.yunti.hadoop.conformance.suite;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.yunti.hadoop.conformance.input.Draw;

/**
 * Unit of the suite: a small program of one or a few jobs, its input, and the defined parts of its result.
 *
 * <p>The same object runs with stock Hadoop and with a variant, so it must be deterministic. Input comes from seeded
 * {@link Draw}s, and nothing may depend on the clock or on the name of the side.
 */
public final class Case {
  /** Writer of one deterministic part of the input below {@link Trial#input()}; called once for both sides. */
  @FunctionalInterface
  public interface Input {
    void write(Trial trial) throws Exception;
  }

  /** Program that runs the jobs from {@link Trial#input()} to {@link Trial#output()}; called once for each side. */
  @FunctionalInterface
  public interface Body {
    void run(Trial trial) throws Exception;
  }

  /** Change to a job that a generic {@link Body} has built. */
  @FunctionalInterface
  public interface Tweak {
    void apply(Job job) throws Exception;
  }

  /** Check that returns why stock Hadoop cannot run the case here, or null if it can. */
  @FunctionalInterface
  public interface Obstacle {
    String find(Configuration conf);
  }

  private final String name;
  private final List<Input> inputs = new ArrayList<>();
  private final List<Tweak> tweaks = new ArrayList<>();
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final Map<String, String> freeCounters = new LinkedHashMap<>();
  private final Set<Pattern> permittedDeclines = new LinkedHashSet<>();
  private Body body;
  private Body nativeBody;
  private Order order = Order.VALUES_FREE;
  private Obstacle obstacle = conf -> null;
  private String mustFailWith;
  private Pattern printed;
  private boolean onCluster;
  private boolean spills;
  private boolean onlyInSweep;

  private Case(String name) {
    this.name = name;
  }

  /** @param name {@code theme/case}, in lower case with dashes */
  public static Case of(String name) {
    return new Case(name);
  }

  // Setters for the author of a case.

  public Case input(Input input) {
    inputs.add(input);
    return this;
  }

  public Case body(Body newBody) {
    body = newBody;
    return this;
  }

  /**
   * Sets the same program as tasks that are native throughout; the variant {@code native} runs it instead of the body.
   */
  public Case nativeBody(Body newBody) {
    nativeBody = newBody;
    return this;
  }

  public Case tweak(Tweak tweak) {
    tweaks.add(tweak);
    return this;
  }

  public Case set(String key, Object value) {
    settings.put(key, String.valueOf(value));
    return this;
  }

  /** Compresses the map output by a codec ({@code Gzip}); skips the case if stock Hadoop cannot do that here. */
  public Case mapOutput(String codec) {
    return set("mapreduce.map.output.compress", true)
        .set("mapreduce.map.output.compress.codec", Codecs.className(codec))
        .skippedIf(conf -> Codecs.obstacleOfMapOutput(codec, conf));
  }

  public Case order(Order newOrder) {
    order = newOrder;
    return this;
  }

  /** Permits both sides to count a counter {@code NAME} differently, for the given reason. */
  public Case counterMayDiffer(String counter, String reason) {
    freeCounters.put(counter, reason);
    return this;
  }

  /**
   * Permits a plug-in to leave this case to stock Hadoop for a reason that contains this text, in any case. Hadoop
   * truncates counter names to 64 characters, so the text must be near the beginning of the reason.
   */
  public Case mayDecline(String reason) {
    permittedDeclines.add(Pattern.compile(Pattern.quote(reason), Pattern.CASE_INSENSITIVE));
    return this;
  }

  /** Restricts a case that has many similar ones to {@code --sweep}. */
  public Case onlyInSweep() {
    onlyInSweep = true;
    return this;
  }

  /** Requires spills of native map tasks. */
  public Case mustSpill() {
    spills = true;
    return this;
  }

  /** Requires that a job fails with the text in its stack of causes. */
  public Case mustFail(String text) {
    mustFailWith = text;
    return this;
  }

  /** Adds an obstacle; any one of them skips the case. */
  public Case skippedIf(Obstacle newObstacle) {
    Obstacle before = obstacle;
    obstacle = conf -> {
      String found = before.find(conf);
      return found == null ? newObstacle.find(conf) : found;
    };
    return this;
  }

  /** Makes lines of standard output that match a part of the result. */
  public Case prints(String regex) {
    printed = Pattern.compile(regex);
    return this;
  }

  /** Marks a case that is worth its time on a real cluster, where a job takes many seconds. */
  public Case onCluster() {
    onCluster = true;
    return this;
  }

  // Getters for the runner and the comparison.

  public String name() {
    return name;
  }

  public List<Input> inputs() {
    return inputs;
  }

  public Body body() {
    return body;
  }

  /** Returns the native program, or null if the case has none. */
  public Body nativeBody() {
    return nativeBody;
  }

  List<Tweak> tweaks() {
    return tweaks;
  }

  public Map<String, String> settings() {
    return settings;
  }

  public Order order() {
    return order;
  }

  public Map<String, String> freeCounters() {
    return freeCounters;
  }

  public Set<Pattern> permittedDeclines() {
    return permittedDeclines;
  }

  public String mustFailWith() {
    return mustFailWith;
  }

  /** Returns the obstacle; null in most cases. */

  public Obstacle obstacle() {
    return obstacle;
  }

  public Pattern printed() {
    return printed;
  }

  public boolean hasToSpill() {
    return spills;
  }

  public boolean runsOnlyInSweep() {
    return onlyInSweep;
  }

  public boolean runsOnCluster() {
    return onCluster;
  }
}
