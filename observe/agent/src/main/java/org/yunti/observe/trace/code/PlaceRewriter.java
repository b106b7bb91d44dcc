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
import org.yunti.observe.trace.code.Places.About;
import org.yunti.observe.trace.code.Places.Place;
import org.yunti.observe.trace.code.Places.Role;

/** Changes methods so that they report events: requests, tasks, and what is taken and given back. */
public final class PlaceRewriter extends ClassChanges {
  private final Patterns requests;
  private final Set<String> withMonitors;
  private final Set<String> waitsAt;
  private final Events events;
  /** Places of the HTTP server whose method is a request, by class. */
  private final Map<String, List<Place>> server;

  /**
   * @param requests methods whose calls are requests
   * @param request classes whose monitors, and whose methods that take and give back, are reported
   */
  public PlaceRewriter(Instrumentation instrumentation, Patterns requests, Request request, Hook hook, Events events) {
    super(instrumentation, hook, events);
    this.requests = requests;
    this.withMonitors = new HashSet<>(request.monitors);
    this.waitsAt = new HashSet<>(request.waitsAt);
    this.events = events;
    this.server = Servers.of(request.methods);
  }

  @Override
  boolean matches(String name, boolean isOfJdk) {
    return !places(name).isEmpty() || server.containsKey(name) || withMonitors.contains(name)
        || !requests.of(name, isOfJdk).isEmpty();
  }

  private List<Place> places(String name) {
    List<Place> places = Places.of(name);
    return Places.areOfTasks(places) || waitsAt.contains(name) ? places : List.of();
  }

  @Override
  Change change(ClassWriter writer, String name, boolean isOfJdk, Set<String> tooLong) {
    return new Methods(writer, name, isOfJdk, tooLong);
  }

  /** Returns the number of a begin, at which a thread counts what it has allocated. */
  private int begin(String text) {
    int number = number(text);
    if (number >= 0) {
      events.markCounted(number);
    }
    return number;
  }

  /** Returns the number of an end, at which a thread counts what it has allocated and sends its events. */
  private int end(String text) {
    int number = begin(text);
    if (number >= 0) {
      events.markEnd(number);
    }
    return number;
  }

  /** Returns the number of a place whose objects need no description. */
  private int plain(String text) {
    int number = number(text);
    if (number >= 0) {
      events.markPlain(number);
    }
    return number;
  }

  /** Returns the number of a place with a request's name. */
  private int name(String text) {
    int number = number(text);
    if (number >= 0) {
      events.markName(number);
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
      List<PlaceChange.Report> reports = new ArrayList<>();
      for (MethodPattern pattern : patterns) {
        if (pattern.matchesMethod(method, (access & ACC_SYNTHETIC) != 0)) {
          pattern.isMatched = true;
          if (server.isEmpty()) {
            reports.add(new PlaceChange.Report(Role.REQUEST, begin("q " + whole), end("Q " + whole), About.NONE,
                null));
          }
        }
      }
      for (Place place : server.getOrDefault(name, List.of())) {
        if (place.matches(method, descriptor)) {
          reports.add(report(place, whole));
        }
      }
      for (Place place : places(name)) {
        if (place.matches(method, descriptor)) {
          reports.add(report(place, whole));
        }
      }
      int monitors = -1;
      if (withMonitors.contains(name)) {
        monitors = numbers("m " + whole, "n " + whole);
        int release = number("o " + whole);
        if (release != monitors + 2) {
          monitors = -1;
        } else if ((access & ACC_SYNCHRONIZED) != 0) {
          reports.add(new PlaceChange.Report(null, number("y " + whole), release));
        }
      }
      if (reports.isEmpty() && monitors < 0) {
        return visitor;
      }
      PlaceChange change = new PlaceChange(visitor, this, access, descriptor, reports, monitors, hook);
      isChange |= !reports.isEmpty();
      return change;
    }

    private PlaceChange.Report report(Place place, String whole) {
      Role role = place.role();
      int first = switch (role) {
        case ACQUIRE -> number("w " + whole);
        case RELEASE -> number("r " + whole);
        case SUBMIT -> plain("s " + whole);
        case SCHEDULE -> plain("l " + whole);
        case BEFORE -> number("x " + whole);
        case AFTER -> end("e " + whole);
        case RUN -> begin("b " + whole);
        case REQUEST -> begin("q " + whole);
        case REQUEST_OR_PART -> begin("p " + whole);
        case PART -> begin("g " + whole);
        case BEGIN -> begin("i " + whole);
        case DONE -> end("d " + whole);
        case DONE_IF -> {
          int not = numbers("- " + whole, "d " + whole);
          if (not >= 0) {
            events.markPlain(not);
            events.markCounted(not + 1);
            events.markEnd(not + 1);
          }
          yield not;
        }
        case NAME -> name("k " + whole);
      };
      int second = switch (role) {
        case ACQUIRE -> numbers("f " + whole, "a " + whole);
        case BEFORE -> begin("b " + whole);
        case RUN -> end("e " + whole);
        case REQUEST, REQUEST_OR_PART -> end("Q " + whole);
        case PART -> end("G " + whole);
        default -> -1;
      };
      return new PlaceChange.Report(role, first, second, place.about(), place.last());
    }
  }
}
