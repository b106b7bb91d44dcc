package org.yunti.web.velocity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of templates larger than a method, a class or an ordinary stack. */
class LargeTemplatesTest {
  private static void check(String template, Map<String, Object> model) {
    check(template, model, 0);
  }

  private static void check(String template, Map<String, Object> model, int interpreted) {
    RenderResult stock = RenderResult.of(Engines.stock(), template, model);
    RenderResult ours = RenderResult.of(Engines.compiling(), template, model);
    assertEquals(stock.text(), ours.text());
    assertNull(ours.explanation().wholeReason());
    assertEquals(interpreted, ours.explanation().interpreted().size());
  }

  @Test
  void rendersAMegabyteOfText() {
    check("<p>text of the page</p>\n".repeat(45_000) + "$name", Map.of("name", "n"));
  }

  @Test
  void rendersTenThousandReferences() {
    StringBuilder template = new StringBuilder();
    for (int i = 0; i < 10_000; i++) {
      template.append("<b>").append(i).append("</b>$row.name $row.list.get(").append(i % 3).append(") $!none.x ");
    }
    check(template.toString(), Map.of("row", Map.of("name", "n", "list", List.of("a", "b", "c"))));
  }

  @Test
  void rendersTenThousandReferencesInALoop() {
    check("#foreach($i in [1..2])" + "[$row.name]#if($i == 1)$i#end".repeat(10_000) + "#end",
        Map.of("row", Map.of("name", "n")));
  }

  @Test
  void rendersTwoHundredNestedLoops() {
    StringBuilder template = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      template.append("#foreach($x").append(i).append(" in $one)").append(i).append(' ');
    }
    template.append("$x0 $x199 #if($foreach.parent)p#end");
    for (int i = 0; i < 200; i++) {
      template.append("#end");
    }
    check(template.toString(), Map.of("one", List.of("1")));
  }

  @Test
  void rendersAReferenceWithManyParts() {
    check("$a" + ".self".repeat(300) + ".name $b.concat(\"$a.name\").concat('x')" + ".concat($a.name)".repeat(200),
        Map.of("a", Chain.HERE, "b", "b"));
  }

  @Test
  void rendersLongListsAndMaps() {
    List<String> numbers = new ArrayList<>();
    List<String> pairs = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      numbers.add("$a.name" + i);
      pairs.add("'k" + i + "': " + i);
    }
    check("#set($l = [" + String.join(", ", numbers) + "])$l.size() #set($m = {" + String.join(", ", pairs)
        + "})$m.k2999 $m.size()", Map.of("a", Chain.HERE), 2);
  }

  /** Model whose property is itself. */
  public static final class Chain {
    static final Chain HERE = new Chain();

    public Chain getSelf() {
      return this;
    }

    public String getName() {
      return "chain";
    }
  }
}
