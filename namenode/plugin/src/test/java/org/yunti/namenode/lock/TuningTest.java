package org.yunti.namenode.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tuning from a configuration. */
class TuningTest {
  private static Tuning of(String... keysAndValues) {
    Configuration conf = new Configuration(false);
    for (int n = 0; n < keysAndValues.length; n += 2) {
      conf.set(keysAndValues[n], keysAndValues[n + 1]);
    }
    return PhasedLockManager.tuning(conf);
  }

  @Test
  void readsPresets() {
    assertEquals(Tuning.Preset.BALANCED.tuning(), of());
    assertEquals(Tuning.Preset.THROUGHPUT.tuning(), of(PhasedLockManager.PRESET_KEY, " Throughput "));
  }

  @Test
  void overridesPresets() {
    assertEquals(new Tuning(1, 0, false),
        of(PhasedLockManager.WRITERS_KEY, "1", PhasedLockManager.OVERTAKES_KEY, "0", PhasedLockManager.FAIR_KEY,
            "false"));
    assertEquals(
        new Tuning(64, 16, true), of(PhasedLockManager.PRESET_KEY, "throughput", PhasedLockManager.FAIR_KEY, " true"));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value =
          {"yunti.namenode.lock.preset | fast | yunti.namenode.lock.preset is 'fast'; give throughput or balanced",
              "yunti.namenode.lock.writers.max | 0 | yunti.namenode.lock.writers.max is '0'; give a number from 1 to "
              + "2147483647, or leave it to yunti.namenode.lock.preset",
              "yunti.namenode.lock.overtakes.max | few | yunti.namenode.lock.overtakes.max is 'few'; give a number "
              + "from 0 to 2147483647, or leave it to yunti.namenode.lock.preset",
              "yunti.namenode.lock.writers.max | 9999999999 | yunti.namenode.lock.writers.max is '9999999999'; give a "
              + "number from 1 to 2147483647, or leave it to yunti.namenode.lock.preset",
              "yunti.namenode.lock.phase.fair | yes | yunti.namenode.lock.phase.fair is 'yes'; give true or false, or "
              + "leave it to yunti.namenode.lock.preset"})
  void refusesWrongValues(String key, String value, String message) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, () -> of(key, value)).getMessage());
  }
}
