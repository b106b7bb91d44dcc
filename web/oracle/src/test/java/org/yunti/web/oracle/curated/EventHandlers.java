package org.yunti.web.oracle.curated;

import java.util.List;
import org.apache.velocity.app.event.EventCartridge;
import org.apache.velocity.app.event.IncludeEventHandler;
import org.apache.velocity.app.event.InvalidReferenceEventHandler;
import org.apache.velocity.app.event.MethodExceptionEventHandler;
import org.apache.velocity.app.event.ReferenceInsertionEventHandler;
import org.apache.velocity.context.Context;
import org.apache.velocity.util.introspection.Info;
import org.yunti.web.oracle.Journal;

/**
 * Event handlers of all kinds; each records its arguments. Velocity creates the engine's handlers by their class names.
 */
public final class EventHandlers {
  private EventHandlers() {}

  public static final List<String> KINDS = List.of("insertion", "invalid", "method", "include");

  /** Returns the name of the property and the handlers chained in it. */
  public static String property(String kind) {
    return switch (kind) {
      case "insertion" -> "event_handler.reference_insertion.class";
      case "invalid" -> "event_handler.invalid_references.class";
      case "method" -> "event_handler.method_exception.class";
      default -> "event_handler.include.class";
    };
  }

  public static String classes(String kind) {
    return switch (kind) {
      case "insertion" -> Insertion.class.getName() + ',' + Second.class.getName();
      case "invalid" -> Invalid.class.getName();
      case "method" -> OnException.class.getName();
      default -> OnInclude.class.getName();
    };
  }

  public static void attach(Context context, String kind) {
    EventCartridge cartridge = new EventCartridge();
    switch (kind) {
      case "insertion" -> cartridge.addReferenceInsertionEventHandler(new Insertion());
      case "invalid" -> cartridge.addInvalidReferenceEventHandler(new Invalid());
      case "method" -> cartridge.addMethodExceptionHandler(new OnException());
      default -> cartridge.addIncludeEventHandler(new OnInclude());
    }
    cartridge.attachToContext(context);
  }

  private static String type(Object o) {
    return o == null ? "null" : o.getClass().getSimpleName();
  }

  /** Changes, removes or keeps inserted values. */
  public static final class Insertion implements ReferenceInsertionEventHandler {
    @Override
    public Object referenceInsert(Context context, String reference, Object value) {
      Journal.note("insert " + reference + ' ' + type(value));
      if (reference.contains("html")) {
        return String.valueOf(value).replace("<", "&lt;");
      }
      return reference.contains("gone") ? null : reference.contains("made") ? "made" : value;
    }
  }

  /** Second handler, which receives the result of the first. */
  public static final class Second implements ReferenceInsertionEventHandler {
    @Override
    public Object referenceInsert(Context context, String reference, Object value) {
      Journal.note("second " + reference + ' ' + type(value));
      return "made".equals(value) ? "remade" : value;
    }
  }

  /** Returns values for references without one. */
  public static final class Invalid implements InvalidReferenceEventHandler {
    @Override
    public Object invalidGetMethod(Context context, String reference, Object object, String property, Info info) {
      Journal.note("invalid get " + reference + ' ' + type(object) + ' ' + property + ' ' + info);
      return reference.contains("made") ? "made" : null;
    }

    @Override
    public boolean invalidSetMethod(Context context, String left, String right, Info info) {
      Journal.note("invalid set " + left + ' ' + right + ' ' + info);
      return left.contains("made");
    }

    @Override
    public Object invalidMethod(Context context, String reference, Object object, String method, Info info) {
      Journal.note("invalid method " + reference + ' ' + type(object) + ' ' + method + ' ' + info);
      return reference.contains("made") ? "made by method" : null;
    }
  }

  /** Returns a value for a failed call, or fails itself. */
  public static final class OnException implements MethodExceptionEventHandler {
    @Override
    public Object methodException(Context context, Class<?> type, String method, Exception e, Info info) {
      Journal.note("exception " + type.getSimpleName() + '.' + method + ' ' + e + ' ' + info);
      if ("rethrow".equals(e.getMessage())) {
        throw new IllegalStateException("from the handler", e);
      }
      return "null".equals(e.getMessage()) ? null : "caught " + e.getMessage();
    }
  }

  /** Changes or refuses included files. */
  public static final class OnInclude implements IncludeEventHandler {
    @Override
    public String includeEvent(Context context, String included, String current, String directive) {
      Journal.note("include " + included + " in " + current + " by " + directive);
      return included == null ? "part.vm" : included.startsWith("refused") ? null : included.replace("other", "part");
    }
  }
}
