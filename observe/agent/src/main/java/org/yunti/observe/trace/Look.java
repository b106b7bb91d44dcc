package org.yunti.observe.trace;

import java.io.Closeable;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import org.yunti.observe.trace.calls.Calls;
import org.yunti.observe.trace.code.Hook;
import org.yunti.observe.trace.code.Patterns;
import org.yunti.observe.trace.code.Rewriter;

/** One look at a JVM, from the request to the last method that is as it was before; on a thread of its own, the only one. */
public final class Look implements Runnable {
  /** How often the ring of calls is emptied. */
  private static final int PULSE_MILLIS = 5;
  /** Until threads that are within our code have left it. */
  private static final int LEAVE_MILLIS = 20;
  /** Until a class that was being loaded when the end came is there. */
  private static final int LOAD_MILLIS = 50;

  private final Path socket;
  private final Instrumentation instrumentation;
  private final Closeable loader;

  public Look(Path socket, Instrumentation instrumentation, Closeable loader) {
    this.socket = socket;
    this.instrumentation = instrumentation;
    this.loader = loader;
  }

  @Override
  public void run() {
    try (loader; Wire wire = new Wire(socket)) {
      try {
        look(wire, wire.request());
      } catch (Throwable e) {
        wire.say('F', e.toString());
      }
      wire.flushAll();
    } catch (Throwable e) {
      // The observer is gone: there is nobody to tell.
    }
  }

  private void look(Wire wire, Request request) throws Exception {
    Hook hook = Hook.in(instrumentation);
    Calls calls = new Calls(request.withTexts, request.overNanos, request.callsMax);
    calls.warmUp();
    if (!hook.take(calls)) {
      wire.say('B', "");
      return;
    }
    Patterns patterns = new Patterns(request.methods);
    Rewriter rewriter = new Rewriter(instrumentation, patterns, hook, calls, request.withTexts);
    try {
      rewriter.begin();
      if (request.waits || patterns.isAllMet()) {
        watch(wire, request, rewriter, calls);
      } else {
        patterns.missing(instrumentation, (pattern, hint) -> wire.say('N', pattern + '\0' + hint));
      }
    } finally {
      hook.free();
      rewriter.end(LOAD_MILLIS);
    }
    Thread.sleep(LEAVE_MILLIS);
    tell(wire, rewriter, calls);
    calls.running(wire::calls);
    wire.lost(calls.lost());
    patterns.missing(instrumentation, (pattern, hint) -> wire.say('S', pattern + ": no method was called so; " + hint));
    wire.say('Z', "");
  }

  private void watch(Wire wire, Request request, Rewriter rewriter, Calls calls) throws InterruptedException {
    long end = System.nanoTime() + request.millisMax * 1_000_000;
    tell(wire, rewriter, calls);
    wire.say('R', "");
    long lost = 0;
    try (Farewell farewell = new Farewell()) {
      while (!wire.isEndWanted() && System.nanoTime() < end) {
        boolean isExiting = farewell.isExiting();
        calls.breathe();
        if (!wire.isBehind()) {
          tell(wire, rewriter, calls);
        }
        if (calls.lost() != lost) {
          lost = calls.lost();
          wire.lost(lost);
        }
        wire.flush();
        if (isExiting) {
          farewell.told();
        }
        Thread.sleep(PULSE_MILLIS);
      }
    } catch (IOException e) {
      // The observer is gone.
    }
  }

  /** Calls are taken before the names of methods, so that no call comes before its name. */
  private static void tell(Wire wire, Rewriter rewriter, Calls calls) {
    long[] words = calls.take();
    rewriter.news(wire::method, wire::say);
    Calls.chunks(words, wire::calls);
  }
}
