package org.yunti.observe.trace.code;

import static org.objectweb.asm.Opcodes.*;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.yunti.observe.trace.Request;
import org.yunti.observe.trace.calls.Events;
import org.yunti.observe.trace.code.PlaceChange.Report;
import org.yunti.observe.trace.code.Places.About;
import org.yunti.observe.trace.code.Places.Place;
import org.yunti.observe.trace.code.Places.Role;
import org.yunti.observe.trace.objects.Way;

/** Changes methods so that they report events: requests, tasks, and what is taken and given back. */
public final class PlaceRewriter extends ClassChanges {
  /** Traits of begins and ends of requests and tasks, at which a thread counts what it has allocated. */
  private static final int SPAN = Events.COUNTED | Events.PLAIN;
  private static final int TASK = SPAN | Events.BEGIN;
  private static final int END = SPAN | Events.END;

  private final Patterns requests;
  private final Set<String> withMonitors;
  private final Events events;
  /** Places of the HTTP server whose method is a request, by class. */
  private final Map<String, List<Place>> server;

  /**
   * @param requests methods whose calls are requests
   * @param request classes whose monitors are reported
   */
  public PlaceRewriter(Instrumentation instrumentation, Patterns requests, Request request, Hook hook, Events events) {
    super(instrumentation, hook, events);
    this.requests = requests;
    this.withMonitors = new HashSet<>(request.monitors);
    events.setWorkerPools(number("x java.util.concurrent.ForkJoinPool.runWorker"));
    this.events = events;
    this.server = Servers.of(request.methods);
  }

  @Override
  boolean matches(String name, boolean isOfJdk) {
    return !Places.of(name).isEmpty() || server.containsKey(name) || withMonitors.contains(name)
        || !requests.of(name, isOfJdk).isEmpty();
  }

  @Override
  Change change(ClassWriter writer, String name, boolean isOfJdk, Set<String> tooLong) {
    return new Methods(writer, name, isOfJdk, tooLong);
  }

  /** Returns the number of a place with traits; -1 if no numbers are left. */
  private int number(String text, int traits) {
    int number = number(text);
    if (number >= 0) {
      events.mark(number, traits);
    }
    return number;
  }

  /** The change of one class. */
  private final class Methods extends Change {
    private final String name;
    private final List<MethodPattern> patterns;
    private final Set<String> tooLong;

    Methods(ClassWriter writer, String name, boolean isOfJdk, Set<String> tooLong) {
      super(writer);
      this.name = name;
      this.patterns = requests.of(name, isOfJdk);
      this.tooLong = tooLong;
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature,
        String[] exceptions) {
      MethodVisitor visitor = super.visitMethod(access, method, descriptor, signature, exceptions);
      if ((access & (ACC_ABSTRACT | ACC_NATIVE)) != 0 || tooLong.contains(method + descriptor)
          || method.startsWith("<")) {
        return visitor;
      }
      String whole = name + "." + method;
      List<Report> reports = new ArrayList<>();
      for (MethodPattern pattern : patterns) {
        if (pattern.matchesMethod(method, (access & ACC_SYNTHETIC) != 0)) {
          pattern.isMatched = true;
          if (server.isEmpty()) {
            reports.add(report(new Place(method, "", Role.REQUEST, About.NONE), whole));
          }
        }
      }
      for (Place place : server.getOrDefault(name, List.of())) {
        if (place.matches(method, descriptor)) {
          reports.add(report(place, whole));
        }
      }
      for (Place place : Places.of(name)) {
        if (place.matches(method, descriptor) && (access & ACC_STATIC) == 0) {
          reports.add(report(place, whole));
          if (place.isOfSeveral()) {
            reports.add(new Report(Role.UNITS, number("u " + whole, Events.UNITS), -1, place));
          }
        }
      }
      int monitors = -1;
      // The monitor of a pool, or of a lock, is not the pool: both would be one object.
      if (withMonitors.contains(name) && Places.of(name).isEmpty()) {
        monitors = numbers("m " + whole, "n " + whole);
        int release = number("o " + whole);
        if (release != monitors + 2) {
          monitors = -1;
        } else if ((access & ACC_SYNCHRONIZED) != 0) {
          reports.add(new Report(null, number("y " + whole), release));
        }
      }
      if (reports.isEmpty() && monitors < 0) {
        return visitor;
      }
      PlaceChange change = new PlaceChange(visitor, this, access, descriptor, reports, monitors, hook);
      isChange |= !reports.isEmpty();
      return change;
    }

    private Report report(Place place, String whole) {
      Role role = place.role();
      return switch (role) {
        case ACQUIRE, SHARE -> {
          int want = number("w " + whole);
          int failed = numbers("f " + whole, (role == Role.SHARE ? "A " : "a ") + whole);
          if (failed >= 0) {
            setWay(failed + 1, place);
          }
          yield report(place, want, failed);
        }
        case RELEASE -> report(place, setWay(number("r " + whole), place));
        case AWAIT -> report(place, number("r " + whole), number("c " + whole));
        case HOLD -> report(place, setWay(number("a " + whole), place), setWay(number("r " + whole), place));
        case SUBMIT -> report(place, number("s " + whole, Events.PLAIN));
        case SCHEDULE -> report(place, number("l " + whole, Events.PLAIN));
        case BEFORE -> report(place, number("x " + whole), number("b " + whole, TASK));
        case AFTER -> report(place, number("e " + whole, END));
        case RUN -> report(place, number("b " + whole, TASK), number("e " + whole, END));
        case REQUEST -> report(place, number("q " + whole, SPAN), number("Q " + whole, END));
        case REQUEST_OR_PART -> report(place, number("p " + whole, SPAN), number("Q " + whole, END));
        case PART -> report(place, number("g " + whole, SPAN), number("G " + whole, END));
        case BEGIN -> report(place, number("i " + whole, SPAN));
        case DONE -> report(place, number("d " + whole, END));
        case DONE_IF -> {
          int not = numbers("- " + whole, "d " + whole);
          if (not >= 0) {
            events.mark(not, Events.PLAIN);
            events.mark(not + 1, END);
          }
          yield report(place, not);
        }
        case NAME -> report(place, number("k " + whole, Events.NAME));
        case UNITS -> throw new IllegalStateException(whole);
      };
    }

    private Report report(Place place, int only) {
      return report(place, only, -1);
    }

    private Report report(Place place, int first, int second) {
      return new Report(place.role(), first, second, place);
    }

    /** Sets the way from the objects of a number to what is taken at its place. Returns the number. */
    private int setWay(int number, Place place) {
      if (number >= 0 && (place.owner() != null || place.hasKey())) {
        events.setWay(number, new Way(place.owner(), place.key()));
      }
      return number;
    }
  }
}
