package org.yunti.namenode.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class EventRingTest {
  private static AuditEvent event(long millis, String user) {
    return new AuditEvent(millis, true, user, null, "open", "/a", null, null, false, null, "rpc", null, null);
  }

  @Test
  void holdsItsCapacity() {
    EventRing ring = new EventRing(4);
    assertNull(ring.poll());
    AuditEvent first = event(0, "u");
    assertTrue(ring.offer(first));
    for (int number = 1; number < 4; number++) {
      assertTrue(ring.offer(event(number, "u")));
    }
    assertFalse(ring.offer(event(4, "u")));
    assertEquals(4, ring.size());
    assertSame(first, ring.poll());
    assertTrue(ring.offer(event(4, "u")));
    for (long number = 1; number <= 4; number++) {
      assertEquals(number, ring.poll().millis());
    }
    assertNull(ring.poll());
    assertEquals(0, ring.size());
  }

  /** No event is lost or duplicated, and each thread's events keep their order. */
  @Test
  void keepsTheOrderOfManyProducers() throws InterruptedException {
    int threads = 8;
    int each = 30_000;
    EventRing ring = new EventRing(8);
    Thread[] putting = new Thread[threads];
    for (int number = 0; number < threads; number++) {
      String user = String.valueOf(number);
      putting[number] = new Thread(() -> {
        for (long next = 0; next < each; next++) {
          AuditEvent event = event(next, user);
          while (!ring.offer(event)) {
            Thread.yield();
          }
        }
      });
      putting[number].start();
    }
    long[] seen = new long[threads];
    for (long taken = 0; taken < (long) threads * each; ) {
      AuditEvent event = ring.poll();
      if (event == null) {
        Thread.yield();
        continue;
      }
      assertEquals(seen[Integer.parseInt(event.user())]++, event.millis());
      taken++;
    }
    for (Thread thread : putting) {
      thread.join();
    }
    assertNull(ring.poll());
  }
}
