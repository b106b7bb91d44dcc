package org.yunti.observe.trace;

import java.io.Closeable;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import org.yunti.observe.trace.calls.Calls;
import org.yunti.observe.trace.calls.Events;
import org.yunti.observe.trace.calls.Objects;
import org.yunti.observe.trace.code.Hook;
import org.yunti.observe.trace.code.Patterns;
import org.yunti.observe.trace.code.PlaceRewriter;
import org.yunti.observe.trace.code.Rewriter;

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
        Request request = wire.request();
        if (request.isOfEvents) {
          events(wire, request);
        } else {
          trace(wire, request);
        }
      } catch (Throwable e) {
        wire.send('F', e.toString());
      }
      wire.flushAll();
    } catch (Throwable e) {
      // The observer is gone, so nobody gets the error.
    }
  }

  private void trace(Wire wire, Request request) throws Exception {
    Hook hook = Hook.in(instrumentation);
    Calls calls = new Calls(request.withTexts, request.overNanos, request.callsMax);
    calls.warmUp();
    if (!hook.acquire(calls)) {
      wire.send('B', "");
      return;
    }
    Patterns patterns = new Patterns(request.methods);
    Rewriter rewriter = new Rewriter(instrumentation, patterns, hook, calls, request.withTexts);
    try {
      rewriter.begin();
      if (request.waits || patterns.areAllMatched()) {
        untilEnd(wire, request, new Source() {
          @Override
          public void send() {
            Session.send(wire, rewriter, calls);
          }

          @Override
          public void tick() {
            calls.tick();
          }

          @Override
          public long lost() {
            return calls.lost();
          }
        });
      } else {
        patterns.missing(instrumentation, (pattern, hint) -> wire.send('N', pattern + '\0' + hint));
      }
    } finally {
      hook.release();
      rewriter.end(LOAD_MILLIS);
    }
    Thread.sleep(LEAVE_MILLIS);
    send(wire, rewriter, calls);
    calls.running(wire::calls);
    wire.lost(calls.lost());
    patterns.missing(instrumentation, (pattern, hint) -> wire.send('S', pattern + ": no method matched; " + hint));
    wire.send('Z', "");
  }

  private void events(Wire wire, Request request) throws Exception {
    Hook hook = Hook.in(instrumentation);
    Objects objects = new Objects();
    Events events = new Events(objects);
    events.warmUp();
    if (!hook.acquire(events)) {
      wire.send('B', "");
      return;
    }
    Patterns patterns = new Patterns(request.methods);
    PlaceRewriter rewriter = new PlaceRewriter(instrumentation, patterns, request, hook, events);
    try {
      rewriter.begin();
      if (request.waits || patterns.areAllMatched()) {
        untilEnd(wire, request, new Source() {
          @Override
          public void send() {
            Session.send(wire, rewriter, objects, events);
          }

          private int ticks;

          @Override
          public void tick() {
            events.tick(number -> wire.send('S', "place " + number + ": it is passed too often"));
            if (++ticks % TICKS_PER_COUNT == 0) {
              objects.count((identity, at, units) -> wire.send('P', identity + "|" + at + '|' + units));
            }
          }

          @Override
          public long lost() {
            return events.lost();
          }
        });
      } else {
        patterns.missing(instrumentation, (pattern, hint) -> wire.send('N', pattern + '\0' + hint));
      }
    } finally {
      hook.release();
      rewriter.end(LOAD_MILLIS);
    }
    Thread.sleep(LEAVE_MILLIS);
    send(wire, rewriter, objects, events);
    events.rest(wire::events);
    wire.lost(events.lost());
    wire.send('Z', "");
  }

  /** Recorder with its messages. */
  private interface Source {
    void send();

    void tick();

    long lost();
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
        if (source.lost() != lost) {
          lost = source.lost();
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

  /** Sends calls and names of methods. Calls are taken before the names, so no call is sent before its name. */
  private static void send(Wire wire, Rewriter rewriter, Calls calls) {
    long[] words = calls.take();
    rewriter.news(wire::method, wire::send);
    Calls.chunks(words, wire::calls);
  }

  /** Sends events, names of places, and objects. */
  private static void send(Wire wire, PlaceRewriter rewriter, Objects objects, Events events) {
    long[] words = events.take();
    rewriter.news(wire::method, wire::send);
    for (String object; (object = objects.next()) != null; ) {
      wire.send('O', object);
    }
    Calls.chunks(words, wire::events);
  }
}
