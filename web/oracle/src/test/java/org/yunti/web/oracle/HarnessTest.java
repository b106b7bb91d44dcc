package org.yunti.web.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yunti.web.oracle.model.Model;

/** Test of the harness: it detects each wrong engine by its own fault. */
class HarnessTest {
  private static Case of(String template) {
    return new Case("harness").main(template).template("part.vm", "part").page(() -> Model.context(0), Sinks.WRITER)
        .page(() -> Model.context(1), Sinks.UTF_8).page(() -> Model.context(2), Sinks.LATIN_1);
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', value = {
      "Text; text; a $s b", "Partial; text; a $q.fail('why') b", "Message; exception; a $q.fail('why')",
      "Column; exception; a $q.fail('why')", "Cause; exception; $q.fail('why')", "ContextWrite; context; $s",
      "CallOrder; journal; #set($a = $t.toString())#set($b = $q.name)", "CallCount; journal; a $t b",
      "Log; journal; $s", "StaleCache; text; $p.name"})
  void wrongEngineIsFound(String fault, String what, String template) {
    Optional<Difference> difference = new Differential(Wrong.class.getName() + '$' + fault).compare(of(template));
    assertTrue(difference.isPresent());
    assertEquals(what, difference.get().what());
    assertTrue(difference.get().toString().contains(template));
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', value = {"Text; a $i", "Message; $s", "Partial; $s", "CallOrder; ab#set($x = 1)"})
  void wrongEngineIsRightElsewhere(String fault, String template) {
    assertEquals(Optional.empty(), new Differential(Wrong.class.getName() + '$' + fault).compare(of(template)));
  }

  @Test
  void findsNoDifferenceBetweenStockAndStock() {
    assertEquals(Optional.empty(), new Differential(null).compare(of("$t $unknown $q.fail('why')")));
  }

  @Test
  void recordsThePageOfStockVelocity() {
    Outcome outcome = Differential.stock(of("a $t $unknown #set($x = $q.age)")
        .property("directive.if.empty_check", "false")).get(0);
    assertEquals("a T $unknown ", outcome.text());
    assertEquals("", outcome.thrown());
    assertEquals("Integer 42", outcome.context().get("x"));
    UnaryOperator<String> end = line -> line.substring(0, Math.min(line.length(), 60));
    assertEquals("[toString of T, log DEBUG org.apache.velocity.rendering: Null reference [tem, person.getAge,"
        + " context put x Integer]",
        outcome.journal().stream().filter(line -> !line.contains("ResourceManager") && !line.contains("loader"))
        .map(end).toList()
            .toString());
  }

  @Test
  void recordsThePlaceOfExceptions() {
    Outcome outcome = Differential.stock(of("a\n $q.fail('why')")).get(0);
    assertEquals("a\n ", outcome.text());
    assertEquals("org.apache.velocity.exception.MethodInvocationException: Invocation of method 'fail' in  class "
        + "org.yunti.web.oracle.model.Person threw exception java.io.IOException: why at main.vm[line 2, column 5] "
        + "[method fail, reference q, main.vm:2:5]\n  caused by java.io.IOException: why", outcome.thrown());
    assertTrue(Differential.stock(of("#if(")).get(0).thrown()
        .startsWith("org.apache.velocity.exception.ParseErrorException: "));
  }

  @Test
  void joinsSurrogatesInTheEncoder() {
    Case c = new Case("surrogates").main("$high$low $high").page(() -> Model.context(0), Sinks.UTF_8);
    assertEquals("\u00f0\u009f\u0098\u0080 ?", Differential.stock(c).get(0).text());
  }
}
