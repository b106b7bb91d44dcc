package org.yunti.hadoop.submit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Versions as Hadoop and the JVM print them. */
class CheckTest {
  private static final List<String> HADOOP = Arrays.asList("3.1", "3.3");
  private static final List<String> JAVA = Arrays.asList("8", "17", "25");

  @Test
  void isSilentAboutTestedVersions() {
    for (String version : new String[] {"3.1.4", "3.3.6", "3.3", "3.1.1.7.1.7.0-551", "3.3-SNAPSHOT"}) {
      assertEquals("", Check.hint(version, HADOOP), version);
    }
    for (String version : new String[] {"1.8.0_504", "17", "17.0.15", "25.0.1", "25-ea"}) {
      assertEquals("", Check.hint(version, JAVA), version);
    }
  }

  @Test
  void namesTheTestedVersionsForOthers() {
    for (String version : new String[] {"3.2.4", "3.10.0", "2.10.2", "3.6.0", "4.0.0"}) {
      assertEquals(": not tested, only 3.1, 3.3", Check.hint(version, HADOOP), version);
    }
    for (String version : new String[] {"1.7.0_80", "11.0.13", "18.0.2", "2.5"}) {
      assertEquals(": not tested, only 8, 17, 25", Check.hint(version, JAVA), version);
    }
  }

  @Test
  void findsTheHeapInOptions() {
    assertEquals(200, Check.heapMb("-Xmx200m -XX:+UseSerialGC"));
    assertEquals(2048, Check.heapMb("-Xmx1g -Dx=y -Xmx2G"));
    assertEquals(0, Check.heapMb("-XX:+UseSerialGC"));
  }

  @Test
  void addsOptionsInPlaceOfTheirOpposites() {
    assertEquals("-Xmx1g -XX:+UseSerialGC", Tune.options("-Xmx1g -XX:+UseG1GC", "-XX:+UseSerialGC"));
    assertEquals("-XX:TieredStopAtLevel=1", Tune.options(" -XX:TieredStopAtLevel=4 ", "-XX:TieredStopAtLevel=1"));
  }
}
