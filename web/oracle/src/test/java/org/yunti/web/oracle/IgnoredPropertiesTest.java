package org.yunti.web.oracle;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yunti.web.oracle.curated.Themes;

/** Test that the cases by theme detect an engine that ignores one property: otherwise no case covers that property. */
class IgnoredPropertiesTest {
  @ParameterizedTest
  @CsvSource({
      "parser.space_gobbling, lines", "runtime.strict_mode.enable, false", "runtime.strict_mode.escape, false",
          "runtime.strict_math, false",
      "directive.if.empty_check, true", "directive.foreach.skip_invalid, true", "directive.foreach.max_loops, -1",
      "directive.parse.max_depth, 10", "directive.define.max_depth, 2", "velocimacro.enable_bc_mode, false",
      "velocimacro.arguments.strict, false", "velocimacro.inline.local_scope, false", "velocimacro.inline.allow, true",
      "velocimacro.max_depth, 20", "velocimacro.body_reference, bodyContent", "context.scope_control.macro, false",
      "context.scope_control.template, false", "context.scope_control.define, false",
      "context.scope_control.evaluate, false", "context.scope_control.foreach, true",
      "runtime.log.log_invalid_references, true", "runtime.log.log_invalid_method_calls, true",
      "runtime.interpolate_string_literals, true", "runtime.immutable_ranges, true",
      "parser.allow_hyphen_in_identifiers, false"})
  void isNoticed(String key, String byDefault) {
    Differential ignoring = new Differential(null, c -> c.without("no such thing").property(key, byDefault));
    assertTrue(Themes.all().stream()
        .filter(c -> c.properties().containsKey(key) && !byDefault.equals(c.properties().get(key)))
        .anyMatch(c -> ignoring.compare(c).isPresent()));
  }
}
