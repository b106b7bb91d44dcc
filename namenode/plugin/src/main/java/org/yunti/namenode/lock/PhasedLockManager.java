package org.yunti.namenode.lock;

import java.util.Locale;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock;
import org.apache.hadoop.hdfs.util.RwLockMode;
import org.apache.hadoop.metrics2.lib.MutableRatesWithAggregation;

/**
 * Stock's one lock of the name system, on a {@link PhasedLock}: {@code dfs.namenode.lock.model.provider.class}. All that stock tells of its lock (metrics,
 * reports, details of a call) is told by stock's own code.
 */
public class PhasedLockManager extends GlobalFSNamesystemLock {
  /** {@code throughput} or {@code balanced}. */
  public static final String PRESET_KEY = "yunti.namenode.lock.preset";
  /** In place of the preset's: see {@link Tuning}. */
  public static final String WRITERS_KEY = "yunti.namenode.lock.writers.max";

  public static final String OVERTAKES_KEY = "yunti.namenode.lock.overtakes.max";

  public static final String FAIR_KEY = "yunti.namenode.lock.phase.fair";

  private ReentrantReadWriteLock lock;

  public PhasedLockManager(Configuration conf, MutableRatesWithAggregation aggregation) {
    super(conf, aggregation);
    setLockForTests(new PhasedLock(tuning(conf)));
  }

  /**
   * @throws IllegalArgumentException with the key and what it may be
   */
  static Tuning tuning(Configuration conf) {
    String name = conf.getTrimmed(PRESET_KEY, "balanced");
    Tuning preset;
    try {
      preset = Tuning.Preset.valueOf(name.toUpperCase(Locale.ROOT)).tuning();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(PRESET_KEY + " is '" + name + "'; it may be throughput or balanced", e);
    }
    return new Tuning(number(conf, WRITERS_KEY, preset.writersMax(), 1), number(conf, OVERTAKES_KEY, preset.overtakesMax(), 0),
        truth(conf, FAIR_KEY, preset.isPhaseFair()));
  }

  /** Not {@code getBoolean} of Hadoop, which takes whatever it does not know for the preset. */
  private static boolean truth(Configuration conf, String key, boolean preset) {
    String said = conf.getTrimmed(key, String.valueOf(preset));
    return switch (said) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(key + " is '" + said + "'; give true or false, or leave it to " + PRESET_KEY);
    };
  }

  private static int number(Configuration conf, String key, int preset, int min) {
    String said = conf.getTrimmed(key, String.valueOf(preset));
    try {
      int number = Integer.parseInt(said);
      if (number >= min) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(key + " is '" + said + "'; give a number from " + min + " to " + Integer.MAX_VALUE + ", or leave it to " + PRESET_KEY);
  }

  @Override
  public void setLockForTests(ReentrantReadWriteLock lock) {
    this.lock = lock;
    super.setLockForTests(lock);
  }

  @Override
  public int getQueueLength(RwLockMode lockMode) {
    return lock instanceof PhasedLock phased ? phased.waitingThreads() : super.getQueueLength(lockMode);
  }
}
