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

/** What compiled code asks of its engine again and again: its properties, which do not change once it runs, and its handlers, which may. */
public final class EngineFacts {
  /** Uberspectors that give the same answer for the same classes each time, so that it can be kept. */
  private static final Set<String> LASTING_UBERSPECTORS = Set.of(
      "org.apache.velocity.util.introspection.UberspectImpl",
      "org.apache.velocity.util.introspection.SecureUberspector");

  public final RuntimeServices services;
  public final SpaceGobbling gobbling;
  /** Empty strings, collections and zero are false. */
  public final boolean checksEmpty;
  /** Macros keep the literals of their arguments, as in Velocity 1. */
  public final boolean keepsLiterals;
  public final boolean interpolates;
  public final boolean tracksLocation;
  /** A reference that has no value is an error. */
  public final boolean isStrict;
  /** A method that is not there is told. */
  public final boolean logsInvalidMethods;
  /** Quiet references too are told to handlers of invalid ones. */
  public final boolean asksForQuiet;
  public final boolean isUberspectLasting;
  /** It is the one of every engine that says nothing else. */
  public final boolean isUberspectStock;
  public final Logger log;
  /** A value has rendered itself, with whatever it did to the context. */
  public boolean hasRendered;
  private final List<?> referenceHandlers;
  private final List<?> invalidHandlers;

  public EngineFacts(RuntimeServices services) {
    this.services = services;
    gobbling = services.getSpaceGobbling();
    checksEmpty = services.getBoolean(RuntimeConstants.CHECK_EMPTY_OBJECTS, true);
    keepsLiterals = services.getBoolean(RuntimeConstants.VM_ENABLE_BC_MODE, false);
    interpolates = services.getBoolean(RuntimeConstants.INTERPOLATE_STRINGLITERALS, true);
    isStrict = services.getBoolean(RuntimeConstants.RUNTIME_REFERENCES_STRICT, false);
    logsInvalidMethods = services.getBoolean(RuntimeConstants.RUNTIME_LOG_METHOD_CALL_LOG_INVALID, true);
    asksForQuiet = services.getBoolean(RuntimeConstants.EVENTHANDLER_INVALIDREFERENCES_QUIET, false);
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
   * Handlers of invalid references are told what a reference was made of, and what the interpreter has cached of it: they are given the
   * interpreter itself.
   */
  public boolean needsInterpreter(InternalContextAdapter context) {
    if (!invalidHandlers.isEmpty()) {
      return true;
    }
    EventCartridge cartridge = context.getEventCartridge();
    return cartridge != null && !Internals.INVALID_HANDLERS.of(cartridge).isEmpty();
  }

  /** Nobody wants to see the values that are written. */
  public boolean insertsPlainly(InternalContextAdapter context) {
    return referenceHandlers.isEmpty() && context.getEventCartridge() == null;
  }
}
