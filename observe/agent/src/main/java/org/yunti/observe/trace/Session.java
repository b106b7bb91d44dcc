package org.yunti.observe.trace;

import java.io.Closeable;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import org.yunti.observe.trace.calls.Calls;
import org.yunti.observe.trace.calls.Events;
import org.yunti.observe.trace.calls.Recording;
import org.yunti.observe.trace.code.ClassChanges;
import org.yunti.observe.trace.code.Hook;
import org.yunti.observe.trace.code.Patterns;
import org.yunti.observe.trace.code.PlaceRewriter;
import org.yunti.observe.trace.code.Rewriter;
import org.yunti.observe.trace.objects.Objects;

/** One trace of a JVM, from the request until all methods are restored. It runs on the agent's only thread. */
public final class Session implements Runnable {
  /** Milliseconds between two reads of the ring of calls. */
  private static final int PULSE_MILLIS = 5;
  private static final int TICKS_PER_COUNT = 100;
  /** Milliseconds for threads to leave the agent's code. */
  private static final int LEAVE_MILLIS = 20;
  /** Milliseconds for classes to load that were being loaded at the end. */
  private static final int LOAD_MILLIS = 50;

  private final Path socket;
  private final Instrumentation instrumentation;
  private final Closeable loader;

  public Session(Path socket, Instrumentation instrumentation, Closeable loader) {
    this.socket = socket;
    this.instrumentation = instrumentation;
    this.loader = loader;
  }

  @Override
  public void run() {
    try (loader; Wire wire = new Wire(socket)) {
      try {
        record(wire, wire.request());
      } catch (Throwable e) {
        wire.send('F', e.toString());
      }
      wire.flushAll();
    } catch (Throwable e) {
      // The observer is gone, so nobody gets the error.
    }
  }

  /** Recorder with the changes that feed it, and its messages. */
  private abstract static class Source {
    final Wire wire;
    final Patterns patterns;

    Source(Wire wire, Patterns patterns) {
      this.wire = wire;
      this.patterns = patterns;
    }

    abstract Recording<?> recording();

    abstract ClassChanges changes();

    /** Sends names and records. Records are taken before the names, so none is sent before its name. */
    abstract void send();

    abstract void tick();

    /** Sends what threads have kept. Recording has ended. */
    abstract void rest();
  }

  private Source calls(Wire wire, Request request, Hook hook) {
    Calls calls = new Calls(request.withTexts, request.overNanos, request.callsMax);
    calls.warmUp();
    Patterns patterns = new Patterns(request.methods);
    Rewriter rewriter = new Rewriter(instrumentation, patterns, hook, calls, request.withTexts);
    return new Source(wire, patterns) {
      @Override
      Recording<?> recording() {
        return calls;
      }

      @Override
      ClassChanges changes() {
        return rewriter;
      }

      @Override
      void send() {
        long[] words = calls.take();
        rewriter.news(wire::method, wire::send);
        Calls.chunks(words, wire::calls);
      }

      @Override
      void tick() {
        calls.tick();
      }

      @Override
      void rest() {
        calls.running(wire::calls);
        patterns.missing(instrumentation, (pattern, hint) -> wire.send('S', pattern + ": no method matched; " + hint));
      }
    };
  }

  private Source events(Wire wire, Request request, Hook hook) {
    Objects objects = new Objects();
    Events events = new Events(objects);
    events.warmUp();
    Patterns patterns = new Patterns(request.methods);
    PlaceRewriter rewriter = new PlaceRewriter(instrumentation, patterns, request, hook, events);
    return new Source(wire, patterns) {
      private int ticks;

      @Override
      Recording<?> recording() {
        return events;
      }

      @Override
      ClassChanges changes() {
        return rewriter;
      }

      @Override
      void send() {
        long[] words = events.take();
        rewriter.news(wire::method, wire::send);
        for (String object; (object = objects.next()) != null; ) {
          wire.send('O', object);
        }
        Calls.chunks(words, wire::events);
      }

      @Override
      void tick() {
        events.tick(what -> wire.send('S', what));
        if (++ticks % TICKS_PER_COUNT == 0) {
          objects.count((identity, at, units) -> wire.send('P', (identity & 0xffff_ffffL) + "|" + at + '|' + units));
        }
      }

      @Override
      void rest() {
        events.rest(wire::events);
      }
    };
  }

  private void record(Wire wire, Request request) throws Exception {
    Hook hook = Hook.in(instrumentation);
    Source source = request.isOfEvents ? events(wire, request, hook) : calls(wire, request, hook);
    if (!hook.acquire(source.recording())) {
      wire.send('B', "");
      return;
    }
    try {
      source.changes().begin();
      if (request.waits || source.patterns.areAllMatched()) {
        untilEnd(wire, request, source);
      } else {
        source.patterns.missing(instrumentation, (pattern, hint) -> wire.send('N', pattern + '\0' + hint));
      }
    } finally {
      hook.release();
      source.changes().end(LOAD_MILLIS);
    }
    Thread.sleep(LEAVE_MILLIS);
    source.send();
    source.rest();
    wire.lost(source.recording().lost());
    wire.send('Z', "");
  }

  private static void untilEnd(Wire wire, Request request, Source source) throws InterruptedException {
    long end = System.nanoTime() + request.millisMax * 1_000_000;
    source.send();
    wire.send('R', "");
    long lost = 0;
    try (ExitHook exit = new ExitHook()) {
      while (!wire.isEndRequested() && System.nanoTime() < end) {
        boolean isExiting = exit.isExiting();
        source.tick();
        if (!wire.isBehind()) {
          source.send();
        }
        if (source.recording().lost() != lost) {
          lost = source.recording().lost();
          wire.lost(lost);
        }
        wire.flush();
        if (isExiting) {
          exit.markSent();
        }
        Thread.sleep(PULSE_MILLIS);
      }
    } catch (IOException e) {
      // The observer is gone.
    }
  }
}
