package org.yunti.namenode.lock.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.yunti.namenode.check.Explorer;

/**
 * Explores all interleavings of a few threads in {@code PhasedLock}. {@code -Dyunti.model=all} adds setups of two
 * readers and two writers, and of three readers, which take minutes.
 */
class PhasedLockModelTest {
  private static final long STATES_MAX = 40_000_000;

  /** The calls of a thread. */
  private record Script(List<Call> calls) {}

  private static Script script(Call... calls) {
    return new Script(List.of(calls));
  }

  private static final Script READS = script(Call.LOCK_READ, Call.UNLOCK_READ);
  private static final Script READS_TIMED = script(Call.LOCK_READ_TIMED, Call.UNLOCK_READ);
  private static final Script READS_INTERRUPTIBLY = script(Call.LOCK_READ_INTERRUPTIBLE, Call.UNLOCK_READ);
  private static final Script READS_TWICE = script(Call.LOCK_READ, Call.LOCK_READ, Call.UNLOCK_READ, Call.UNLOCK_READ);
  private static final Script TRIES_TO_READ = script(Call.TRY_READ, Call.UNLOCK_READ);
  private static final Script WRITES = script(Call.LOCK_WRITE, Call.UNLOCK_WRITE);
  private static final Script WRITES_TIMED = script(Call.LOCK_WRITE_TIMED, Call.UNLOCK_WRITE);
  private static final Script WRITES_INTERRUPTIBLY = script(Call.LOCK_WRITE_INTERRUPTIBLE, Call.UNLOCK_WRITE);
  private static final Script WRITES_TWICE =
      script(Call.LOCK_WRITE, Call.LOCK_WRITE, Call.LOCK_READ, Call.UNLOCK_READ, Call.UNLOCK_WRITE, Call.UNLOCK_WRITE);
  private static final Script TRIES_TO_WRITE = script(Call.TRY_WRITE, Call.UNLOCK_WRITE);
  private static final Script DOWNGRADES = script(Call.LOCK_WRITE, Call.LOCK_READ, Call.UNLOCK_WRITE, Call.UNLOCK_READ);

  private static LockModel.Setup once(Script... scripts) {
    return new LockModel.Setup(2, 1, false, Stream.of(scripts).map(Script::calls).toList(), 1, 0, false, false);
  }

  private static LockModel.Setup interrupted(LockModel.Setup setup) {
    return new LockModel.Setup(setup.writersMax(), setup.overtakesMax(), setup.isPhaseFair(), setup.scripts(),
        setup.rounds(), 1, setup.isSlotShared(), setup.returnsForNothing());
  }

  private static LockModel.Setup phaseFair(LockModel.Setup setup) {
    return new LockModel.Setup(setup.writersMax(), setup.overtakesMax(), true, setup.scripts(), setup.rounds(),
        setup.interrupts(), setup.isSlotShared(), setup.returnsForNothing());
  }

  private static LockModel.Setup inOneSlot(LockModel.Setup setup) {
    return new LockModel.Setup(setup.writersMax(), setup.overtakesMax(), setup.isPhaseFair(), setup.scripts(),
        setup.rounds(), setup.interrupts(), true, setup.returnsForNothing());
  }

  private static LockModel.Setup returningForNothing(LockModel.Setup setup) {
    return new LockModel.Setup(setup.writersMax(), setup.overtakesMax(), setup.isPhaseFair(), setup.scripts(),
        setup.rounds(), setup.interrupts(), setup.isSlotShared(), true);
  }

  private static LockModel.Setup of(int writersMax, int overtakesMax, int rounds, Script... scripts) {
    return new LockModel.Setup(
        writersMax, overtakesMax, false, Stream.of(scripts).map(Script::calls).toList(), rounds, 0, false, false);
  }

  static List<LockModel.Setup> setups() {
    List<LockModel.Setup> all = new ArrayList<>(List.of(
        once(READS, READS, WRITES),
        once(READS, WRITES, WRITES),
        once(READS, WRITES, DOWNGRADES),
        once(READS_TWICE, WRITES, TRIES_TO_WRITE),
        once(TRIES_TO_READ, WRITES_TWICE, WRITES),
        once(READS_TIMED, WRITES_TIMED, WRITES),
        inOneSlot(once(READS, READS, WRITES)),
        inOneSlot(once(READS, WRITES, DOWNGRADES)),
        interrupted(once(READS, WRITES)),
        interrupted(once(READS_INTERRUPTIBLY, WRITES)),
        interrupted(once(READS, WRITES_INTERRUPTIBLY)),
        interrupted(once(WRITES, WRITES_INTERRUPTIBLY, WRITES_INTERRUPTIBLY)),
        returningForNothing(once(READS, WRITES, WRITES)),
        returningForNothing(interrupted(once(READS_TIMED, WRITES_TIMED))),
        of(2, 1, 2, READS, WRITES),
        of(1, 0, 1, READS, WRITES, WRITES),
        of(1, 1, 1, READS, WRITES, WRITES),
        of(3, 2, 2, WRITES, WRITES, WRITES),
        once(WRITES_TIMED, WRITES_TIMED, WRITES),
        phaseFair(once(READS, WRITES, WRITES)),
        phaseFair(once(READS, WRITES, DOWNGRADES)),
        phaseFair(once(READS_TWICE, WRITES, TRIES_TO_WRITE)),
        phaseFair(once(READS_TIMED, WRITES_TIMED, WRITES)),
        phaseFair(once(WRITES_TIMED, WRITES_TIMED, WRITES)),
        phaseFair(inOneSlot(once(READS, WRITES, DOWNGRADES))),
        phaseFair(interrupted(once(READS, WRITES, WRITES_INTERRUPTIBLY))),
        phaseFair(returningForNothing(once(READS, WRITES, WRITES))),
        phaseFair(of(1, 0, 1, READS, WRITES, WRITES))));
    if ("all".equals(System.getProperty("yunti.model"))) {
      all.addAll(List.of(
          once(READS, READS, WRITES, WRITES),
          once(READS, READS, READS, WRITES),
          once(READS, WRITES, WRITES, WRITES),
          interrupted(once(READS_INTERRUPTIBLY, WRITES_INTERRUPTIBLY, WRITES)),
          interrupted(once(READS_TIMED, READS, WRITES_TIMED)),
          of(3, 1, 3, WRITES, WRITES, WRITES),
          of(2, 1, 2, READS, WRITES, WRITES),
          phaseFair(once(READS, READS, WRITES, WRITES)),
          phaseFair(once(READS, WRITES, WRITES, WRITES)),
          phaseFair(interrupted(once(READS_INTERRUPTIBLY, WRITES_INTERRUPTIBLY, WRITES))),
          phaseFair(of(2, 1, 2, READS, WRITES, WRITES))));
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("setups")
  void hasNoFault(LockModel.Setup setup) {
    // Spurious returns of park may repeat forever: that cycle is not a fault of the protocol.
    Explorer.Outcome outcome =
        new Explorer(new LockModel(setup, Seed.NONE), !setup.returnsForNothing()).explore(STATES_MAX);
    System.out.println("PhasedLock, " + setup + ": " + outcome);
    assertNull(outcome.fault(), outcome::toString);
    assertTrue(outcome.states() > 100, outcome::toString);
  }

  /** Returns the smallest setup that shows the fault. */
  private static LockModel.Setup shows(Seed seed) {
    return switch (seed) {
      case GIVES_UP_THE_CALL, GIVES_UP_THE_PHASE, OVERTAKES_TWICE -> once(WRITES_TIMED, WRITES_TIMED, WRITES);
      case LEADER_JUST_LEAVES -> once(READS_TIMED, WRITES_TIMED, WRITES);
      case STAYS_CALLED -> of(3, 2, 2, WRITES, WRITES, WRITES);
      case OVERTAKES_FOR_NOTHING -> of(2, 1, 2, READS, WRITES, WRITES);
      case OVERTAKES_WITHOUT_END -> of(3, 1, 3, WRITES, WRITES, WRITES);
      case WRITERS_WITHOUT_END -> of(1, 1, 1, READS, WRITES, WRITES, WRITES);
      case KEEPS_WITHOUT_A_LOOK, KEEPS_UNSEEN -> phaseFair(once(READS, WRITES, WRITES));
      default -> once(READS, WRITES, DOWNGRADES);
    };
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void findsSeededFaults(Seed seed) {
    Explorer.Outcome outcome = new Explorer(new LockModel(shows(seed), seed), true).explore(STATES_MAX);
    assertNotNull(outcome.fault(), () -> seed + " was not found among " + outcome);
    System.out.println(
        seed + ": " + outcome.fault() + ", " + outcome.states() + " states, " + outcome.way().size() + " moves");
  }

  // ---- the model follows the code ----

  private static final Path FOLDER = Path.of("src/main/java/org/yunti/namenode/lock");

  /** Parts of all files between their marks for the protocol and for the state. */
  private static String protocol() throws IOException {
    StringBuilder protocol = new StringBuilder();
    for (String name : List.of("Phases", "ReaderSlots", "WaitingReaders", "WriterQueue")) {
      String code = Files.readString(FOLDER.resolve(name + ".java"));
      protocol.append(code, code.indexOf("// ---- protocol"), code.indexOf("// ---- state ----"));
    }
    return protocol.toString();
  }

  /** Returns the body of a method. */
  private static String method(String code, String name) {
    Matcher begin =
        Pattern.compile("\n  (?:private )?[^ =;(][^=;(]*\\b" + name + "\\([^)]*\\)[^{]*\\{\n").matcher(code);
    assertTrue(begin.find(), () -> FOLDER + " has no method " + name);
    return code.substring(begin.end(), code.indexOf("\n  }\n", begin.end()));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DONE")
  void codeHasEachStep(Step step) throws IOException {
    assertTrue(
        method(protocol(), step.method).contains(step.statement),
        () -> step.method + " no longer has: " + step.statement + "; change the model too");
  }

  /** Each line that accesses shared state belongs to a step, or is one of these equivalents. */
  @Test
  void codeHasNoOtherStep() throws IOException {
    Set<String> known = Set.of(
        // Yields before a thread queues.
        "for (int n = 0; n < YIELDS && mayOvertakeSoon() && writers.writersLeft() < YIELDS_FOR_WRITERS; n++) {",
        "return !tuning.isPhaseFair() && isClosed && !writers.isFree();",
        "for (int n = 0; n < YIELDS && writers.writersLeft() < YIELDS_FOR_WRITERS; n++) {",
        "if (!isClosed && enterRead(hold)) {",
        // Nothing depends on the count.
        "count.getAndIncrement();", "count.getAndDecrement();",
        // WAIT_PUSH.
        "waitingReaders.add(reader);", "reader.next = head.get();",
        // WAIT_GONE.
        "return !waitingReaders.endWait(reader) || enterRead(hold);",
        // GRANT_TAKE and LATE_TAKE.
        "Reader readers = waitingReaders.grant(slots);", "late = waitingReaders.grant(slots);",
        // Bodies of the methods of ReaderSlots.
        "slots.getAndIncrement(slot);", "slots.getAndDecrement(slot);",
        "for (int slot = STRIDE; slot < slots.length(); slot += STRIDE) {",
        // lead, tryLockWrite, leaveRead and endPhase: isEmpty, and draining = null twice.
        "if (waiting != null && slots.isEmpty()) {", "if (next != null && (!isGateKept || slots.isEmpty())) {",
        "while (!slots.isEmpty()) {", "if (!slots.isEmpty()) {", "if (slots.isEmpty()) {", "return slots.isEmpty();",
        // Accesses by the owner.
        "if (owner != Thread.currentThread()) {",
        // lockWrite is like lockWriteUntil.
        "LockSupport.park(this);", "LockSupport.parkNanos(this, left);", "if (writer.turn == Writer.LEADS) {",
        "if (writer.turn == Writer.LEADS && !lead(deadline)) {",
        // Under the monitor of the queue.
        "synchronized (writers) {", "writer.turn = Writer.LEADS;", "writer.turn = Writer.HAS_IT;",
        "next.turn = Writer.HAS_IT;", "next.turn = Writer.LEADS;", "if (writers.beginPhase()) {",
        "if (!writers.beginPhase()) {", "writers.takeTurn(writer);", "if (!isLast && writers.isFree()) {",
        "other = writers.call();", "writers.limitPhase();", "goesOn = writers.hasNext();", "next = writers.passOn();",
        "waitingWriters.addLast(writer);", "waitingWriters.remove(writer);", "writersLeft--;", "writersLeft = 0;",
        "writersLeft = Math.min(waitingWriters.size(), tuning.writersMax() - 1);",
        "boolean isLast = isFree && waitingWriters.isEmpty();", "Writer first = waitingWriters.getFirst();",
        "Writer next = waitingWriters.removeFirst();", "Writer next = waitingWriters.pollFirst();",
        "return writersLeft > 0 && !waitingWriters.isEmpty();");
    Pattern shared = Pattern.compile(
        "\\b(slots\\.|isClosed|draining|owner|writersLeft|writers\\.|head\\.|count\\.get|waitingReaders|waitingWriters"
            + "|turn\\b(?!;)|state\\.|LockSupport|synchronized)");
    List<String> others = protocol().lines().map(String::strip)
        .filter(line -> !line.startsWith("//") && !line.startsWith("*") && !line.startsWith("/*"))
        .filter(line -> shared.matcher(line).find() && !line.matches("return .*(true|false);"))
        .filter(line -> !known.contains(line))
        .filter(line -> Stream.of(Step.values()).noneMatch(step -> step != Step.DONE && line.contains(step.statement)))
        .toList();
    assertEquals(List.of(), others, "lines of " + FOLDER + " without a step of the model");
  }

  /** Each step must be reachable in the model. */
  @Test
  void reachesEachStep() {
    Set<Step> taken = EnumSet.of(Step.DONE);
    for (LockModel.Setup setup : List.of(once(READS, WRITES, DOWNGRADES), once(READS_TIMED, WRITES_TIMED, WRITES),
             once(READS, WRITES_TIMED, TRIES_TO_WRITE), once(WRITES_TIMED, WRITES_TIMED, WRITES),
             phaseFair(once(READS, WRITES, WRITES)))) {
      LockModel model = new LockModel(setup, Seed.NONE) {
        @Override
        public String fault(byte[] state) {
          LockState s = LockState.of(setup.scripts().size(), state);
          for (int thread = 1; thread <= s.threads; thread++) {
            taken.add(s.step(thread));
          }
          return super.fault(state);
        }
      };
      assertNull(new Explorer(model, true).explore(STATES_MAX).fault());
    }
    assertEquals(EnumSet.allOf(Step.class), taken);
  }
}
