package org.yunti.web.oracle.curated;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Differential;

/** Test of the cases in text files, one file per theme. */
class CuratedTest {
  @TestFactory
  Stream<DynamicTest> themes() {
    return Themes.all().stream().map(c -> DynamicTest.dynamicTest(c.name(), () -> same(c)));
  }

  /** Names must be unique to identify a case. */
  @Test
  void caseNamesAreUnique() {
    List<Case> all = Themes.all();
    Set<String> names = new HashSet<>();
    all.forEach(c -> assertTrue(names.add(c.name()), c.name()));
    assertTrue(names.size() > 1000);
  }

  /** Most templates must parse: a parse error hides all that follows. */
  @Test
  void mostCasesParse() {
    List<Case> all = Themes.all();
    long broken = all.stream().filter(c -> Differential.stock(c.firstPage()).get(0).thrown()
        .contains("ParseErrorException")).count();
    assertTrue(broken < all.size() / 14, broken + " of " + all.size());
  }

  static void same(Case c) {
    Differential.ofCompiler().compare(c).ifPresent(difference -> Assertions.fail(difference.toString()));
  }
}
