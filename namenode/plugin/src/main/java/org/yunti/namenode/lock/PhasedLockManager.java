package org.yunti.namenode.lock;

import java.util.Locale;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock;
import org.apache.hadoop.hdfs.util.RwLockMode;
import org.apache.hadoop.metrics2.lib.MutableRatesWithAggregation;
import org.yunti.namenode.start.WrongSetting;

/**
 * Lock manager with one {@link PhasedLock} for the name system: {@code dfs.namenode.lock.model.provider.class}. Stock's
 * code reports metrics, long holds and details of a call.
 */
public class PhasedLockManager extends GlobalFSNamesystemLock {
  /** Key of the preset: {@code throughput} or {@code balanced}. */
  public static final String PRESET_KEY = "yunti.namenode.lock.preset";
  /** Key that overrides the preset's {@link Tuning#writersMax}. */
  public static final String WRITERS_KEY = "yunti.namenode.lock.writers.max";

  /** Key that overrides the preset's {@link Tuning#overtakesMax}. */
  public static final String OVERTAKES_KEY = "yunti.namenode.lock.overtakes.max";

  /** Key that overrides the preset's {@link Tuning#isPhaseFair}. */
  public static final String FAIR_KEY = "yunti.namenode.lock.phase.fair";

  private ReentrantReadWriteLock lock;

  /**
   * Creates the lock, as the NameNode does by reflection. A wrong setting ends the NameNode, with a line in its log.
   */
  public PhasedLockManager(Configuration conf, MutableRatesWithAggregation aggregation) {
    super(conf, aggregation);
    setLockForTests(new PhasedLock(tuningAtStart(conf)));
  }

  /** Reads the tuning; a wrong setting ends the NameNode. */
  static Tuning tuningAtStart(Configuration conf) {
    try {
      return tuning(conf);
    } catch (IllegalArgumentException e) {
      throw WrongSetting.end(conf, e);
    }
  }

  /**
   * Reads the tuning from the configuration.
   *
   * @throws IllegalArgumentException with the key of a wrong setting and its valid values
   */
  static Tuning tuning(Configuration conf) {
    String name = conf.getTrimmed(PRESET_KEY, "balanced");
    Tuning preset;
    try {
      preset = Tuning.Preset.valueOf(name.toUpperCase(Locale.ROOT)).tuning();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(PRESET_KEY + " is '" + name + "'; give throughput or balanced", e);
    }
    return new Tuning(
        number(conf, WRITERS_KEY, preset.writersMax(), 1),
        number(conf, OVERTAKES_KEY, preset.overtakesMax(), 0),
        truth(conf, FAIR_KEY, preset.isPhaseFair()));
  }

  /** Parses {@code true} or {@code false}; Hadoop's {@code getBoolean} would replace any other value by the preset. */
  private static boolean truth(Configuration conf, String key, boolean preset) {
    String value = conf.getTrimmed(key, String.valueOf(preset));
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(
          key + " is '" + value + "'; give true or false, or leave it to " + PRESET_KEY);
    };
  }

  private static int number(Configuration conf, String key, int preset, int min) {
    String value = conf.getTrimmed(key, String.valueOf(preset));
    try {
      int number = Integer.parseInt(value);
      if (number >= min) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The exception below reports it.
    }
    throw new IllegalArgumentException(
        key + " is '" + value + "'; give a number from " + min + " to " + Integer.MAX_VALUE + ", or leave it to "
            + PRESET_KEY);
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
