package org.yunti.web.velocity.tree;

import java.util.List;
import java.util.Set;
import org.apache.velocity.app.event.EventCartridge;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.RuntimeConstants.SpaceGobbling;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.util.introspection.Uberspect;
import org.apache.velocity.util.introspection.UberspectImpl;
import org.slf4j.Logger;

/**
 * Facts of the engine for compiled code: its properties, which are fixed after initialisation, and its handlers, which
 * may change.
 */
public final class EngineFacts {
  /** Uberspectors whose results for a class are constant and can be cached. */
  private static final Set<String> LASTING_UBERSPECTORS = Set.of(
      "org.apache.velocity.util.introspection.UberspectImpl",
      "org.apache.velocity.util.introspection.SecureUberspector");

  /** Services of the engine. */
  public final RuntimeServices services;
  /** Mode of space gobbling. */
  public final SpaceGobbling gobbling;
  /** True if empty strings, empty collections and zero are false. */
  public final boolean checksEmpty;
  /** True if macros keep the literals of their arguments, as in Velocity 1. */
  public final boolean keepsLiterals;
  /** True if string literals are interpolated. */
  public final boolean interpolates;
  /** True if {@code runtime.log.track_location} is on. */
  public final boolean tracksLocation;
  /** True if a reference without a value is an error. */
  public final boolean isStrict;
  /** True if a call of a missing method is logged. */
  public final boolean logsInvalidMethods;
  /** True if handlers of invalid references also receive quiet references. */
  public final boolean reportsQuiet;
  /** True if results of the Uberspector can be cached. */
  public final boolean isUberspectLasting;
  /** True if the Uberspector is Velocity's default. */
  public final boolean isUberspectStock;
  /** Logger of rendering. */
  public final Logger log;
  /** Set when a value has rendered itself, which may have changed the context. */
  public boolean hasRendered;
  private final List<?> referenceHandlers;
  private final List<?> invalidHandlers;

  /** Reads the facts of an initialised engine. */
  public EngineFacts(RuntimeServices services) {
    this.services = services;
    gobbling = services.getSpaceGobbling();
    checksEmpty = services.getBoolean(RuntimeConstants.CHECK_EMPTY_OBJECTS, true);
    keepsLiterals = services.getBoolean(RuntimeConstants.VM_ENABLE_BC_MODE, false);
    interpolates = services.getBoolean(RuntimeConstants.INTERPOLATE_STRINGLITERALS, true);
    isStrict = services.getBoolean(RuntimeConstants.RUNTIME_REFERENCES_STRICT, false);
    logsInvalidMethods = services.getBoolean(RuntimeConstants.RUNTIME_LOG_METHOD_CALL_LOG_INVALID, true);
    reportsQuiet = services.getBoolean(RuntimeConstants.EVENTHANDLER_INVALIDREFERENCES_QUIET, false);
    tracksLocation = Internals.TRACKS_LOCATION.of(services.getLogContext());
    Uberspect uberspect = services.getUberspect();
    isUberspectLasting = LASTING_UBERSPECTORS.contains(uberspect.getClass().getName());
    isUberspectStock = uberspect.getClass() == UberspectImpl.class;
    log = services.getLog("rendering");
    EventCartridge cartridge = services.getApplicationEventCartridge();
    referenceHandlers = Internals.REFERENCE_HANDLERS.of(cartridge);
    invalidHandlers = Internals.INVALID_HANDLERS.of(cartridge);
  }

  /**
   * Returns true if the context or the engine has handlers of invalid references. They need the parts of a reference
   * and the interpreter's cache, so the interpreter renders the page.
   */
  public boolean needsInterpreter(InternalContextAdapter context) {
    if (!invalidHandlers.isEmpty()) {
      return true;
    }
    EventCartridge cartridge = context.getEventCartridge();
    return cartridge != null && !Internals.INVALID_HANDLERS.of(cartridge).isEmpty();
  }

  /** Returns true if no handler observes the values that are written. */
  public boolean insertsPlainly(InternalContextAdapter context) {
    return referenceHandlers.isEmpty() && context.getEventCartridge() == null;
  }
}
