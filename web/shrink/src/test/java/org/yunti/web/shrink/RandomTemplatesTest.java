package org.yunti.web.shrink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.VelocityException;
import org.junit.jupiter.api.Test;

/**
 * Test of random templates in each mode of gobbling: the visible page stays the same. Every build uses the same
 * templates; {@code make test-full-web} sets YUNTI_WEB_SEED and YUNTI_WEB_CASES.
 */
class RandomTemplatesTest {
  /** Pieces that may be anywhere. */
  private static final List<String> PHRASES = List.of(" ", "  ", "\n", "  \n\t", "\n\n   ", "word", "two  words",
      "<textarea> a  b </textarea>", "<script>var a = '  ';\n  </script>", "<!-- c   d -->",
      "<a\n   href=\"x  y\"\n  title='q  r'>a  b</a>", "<img src=x   alt = \"a  b\">", "<br>", "a < b", "\\$x", "$$",
      "# ", "&nbsp;  ", "(x)", "1.5", "\"q  r\"", "[]", "{  }", "|", "<select>  <option> a </option>  </select>");
  /** Pieces that end a paragraph, and must not be in an inline element. */
  private static final List<String> FLOW = List.of("<pre>\n  x  y\n</pre>", "<style> a  b </style>",
      "<table>\n  <tr>\n <td>  x  </td>  </tr>  </table>", "<p style='white-space:pre'> a  b </p>", "<PRE>  a  b</PRE>",
      "<ul>\n   <li>  a</li>\n   <li>b  </li>\n</ul>");
  private static final String[] VTL = {"$x", "$!y", "${x}", "$m.get('a  b')", "#set($z = \"a  b\")",
      "\n  #set( $z = $x )\n", "## comment  c\n",
      "\n   ## comment\n", "#* a  b *#", "#[[ a  b ]]#", "$undefined", "#evaluate(\"a  $x\")", "#m1()", "\n  #m1()\n",
      "#m2(\"a  b\")", "#@m3()  c  d#end", "$d"};

  private final Random random;
  private final StringBuilder text = new StringBuilder();

  RandomTemplatesTest() {
    random = new Random();
  }

  /**
   * Adds pieces.
   *
   * @param isFlow true if all pieces may be here. Elements are nested as HTML requires, because a parser repairs others
   *     by the text between them, blanks included
   */
  private void body(int depth, int length, boolean isFlow) {
    for (int i = 0; i < length; i++) {
      int kind = random.nextInt(20);
      if (kind < 12) {
        int piece = random.nextInt(PHRASES.size() + (isFlow ? FLOW.size() : 0));
        text.append(piece < PHRASES.size() ? PHRASES.get(piece) : FLOW.get(piece - PHRASES.size()));
      } else if (kind < 16) {
        text.append(VTL[random.nextInt(VTL.length)]);
      } else if (isFlow && kind == 16 && random.nextInt(6) == 0) {
        text.append("<pre>");
      } else if (depth > 0) {
        block(depth, isFlow);
      }
    }
  }

  private void line() {
    text.append(random.nextBoolean() ? "\n" : "").append(random.nextBoolean() ? "   " : "");
  }

  /** End tags have their elements: a browser ignores an end tag without one, and blanks around it would be visible. */
  private void block(int depth, boolean isFlow) {
    line();
    if (random.nextInt(3) == 0) {
      String element = List.of("b", "div", "p", "pre").get(random.nextInt(isFlow ? 4 : 1));
      text.append('<').append(element).append(" class = \"a  b\">");
      body(depth - 1, random.nextInt(6), element.equals("div"));
      text.append("</").append(element).append('>');
      return;
    }
    int kind = random.nextInt(4);
    if (kind == 0) {
      text.append("#foreach($i in [1..").append(random.nextInt(3) + 1).append("])");
    } else {
      text.append("#if($").append(random.nextBoolean() ? "t" : "f").append(")");
    }
    line();
    body(depth - 1, random.nextInt(6), isFlow);
    line();
    if (kind > 1) {
      text.append("#{else}");
      line();
      body(depth - 1, random.nextInt(6), isFlow);
      line();
    }
    text.append("#end");
    line();
  }

  private String template() {
    text.setLength(0);
    if (random.nextBoolean()) {
      text.append("<!DOCTYPE html>\n<html>\n <head>\n  <title> a  b </title>\n </head>\n <body>\n");
    }
    text.append("#macro(m1)  <i>m  1</i>\n#end\n#macro( m2 $a )<u>$a</u>  #end#macro(m3)<b>$bodyContent</b>#end\n"
        + "#define($d)  d  d #end\n");
    body(3, random.nextInt(20) + 1, true);
    return text.toString();
  }

  private static String difference(List<String> before, List<String> after) {
    for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
      if (i >= before.size() || i >= after.size() || !before.get(i).equals(after.get(i))) {
        return before.subList(Math.min(before.size(), Math.max(0, i - 3)), Math.min(before.size(), i + 2)) + " became "
            + after.subList(Math.min(after.size(), Math.max(0, i - 3)), Math.min(after.size(), i + 2));
      }
    }
    return "";
  }

  @Test
  void aReaderSeesTheSame() {
    String given = System.getenv("YUNTI_WEB_SEED");
    long seed = given == null ? 1 : Long.parseLong(given);
    String number = System.getenv("YUNTI_WEB_CASES");
    int cases = number == null ? 2_000 : Integer.parseInt(number);
    System.out.println("seed " + seed);
    Map<String, Object> model = Map.of("x", "v  w", "t", true, "f", false, "m", Map.of("a  b", "got"));
    int left = 0;
    int smaller = 0;
    for (String gobbling : List.of("none", "bc", "lines", "structured")) {
      random.setSeed(seed);
      VelocityEngine engine = ShrinkerTest.engine(gobbling);
      Properties properties = new Properties();
      properties.setProperty("parser.space_gobbling", gobbling);
      ShrinkOptions space = ShrinkOptions.none().whiteSpace(true).properties(properties);
      Shrinker[] shrinkers = {new Shrinker(space), new Shrinker(space.blocks(true))};
      for (int i = 0; i < cases / 4; i++) {
        String source = template();
        boolean takesBlocks = i % 3 == 0;
        ShrunkTemplate shrunk = shrinkers[takesBlocks ? 1 : 0].shrink(Map.of("page.vm", source)).get(0);
        if (shrunk.notes().toString().contains("Velocity cannot parse it")) {
          continue;
        }
        left += shrunk.notes().isEmpty() ? 0 : 1;
        smaller += shrunk.after().length() < source.length() ? 1 : 0;
        String page;
        try {
          page = ShrinkerTest.render(engine, source, model);
        } catch (VelocityException e) {
          continue;
        }
        String small = ShrinkerTest.render(engine, shrunk.after(), model);
        String about = "seed " + seed + ", " + gobbling + ", case " + i + "\n" + source + "\n----\n" + shrunk.after()
            + "\n----\n";
        assertEquals("", difference(Dom.of(page, takesBlocks), Dom.of(small, takesBlocks)), about);
        assertTrue(small.length() <= page.length(), about);
      }
    }
    System.out.println(cases + " templates, " + smaller + " smaller, " + left + " unchanged");
    assertTrue(left <= cases / 20, left + " of " + cases + " unchanged");
  }
}
