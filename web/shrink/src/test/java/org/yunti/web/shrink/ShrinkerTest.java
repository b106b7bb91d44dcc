package org.yunti.web.shrink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.junit.jupiter.api.Test;
import org.yunti.web.shrink.json.JsonException;
import org.yunti.web.shrink.json.JsonReader;

class ShrinkerTest {
  private static final ShrinkOptions SPACE = ShrinkOptions.none().whiteSpace(true);

  private static ShrunkTemplate shrink(ShrinkOptions options, String source) {
    return new Shrinker(options).shrink(Map.of("page.vm", source)).get(0);
  }

  private static void check(String source, String expected) {
    ShrunkTemplate shrunk = shrink(SPACE, source);
    assertEquals(expected, shrunk.after(), source + " " + shrunk.notes());
  }

  private static void same(String source) {
    check(source, source);
  }

  @Test
  void squeezesBlanksOfText() {
    check("<p>a   b\n\n   c\t</p>", "<p>a b\nc </p>");
    check("<b>a</b>   <i>b</i>", "<b>a</b> <i>b</i>");
    check("a &nbsp;  b", "a &nbsp; b");
    check("a < b   c", "a < b c");
    same("");
    same("a");
  }

  @Test
  void keepsVisibleBlanks() {
    same("<pre>\n  a   b\n</pre>");
    check("<pre><b>  x</b></pre>   y  z", "<pre><b>  x</b></pre> y z");
    same("<textarea>  a   b</textarea>");
    same("<script>var a = '   ';\n\n  f()</script>");
    same("<style>a   { b:   c }</style>");
    same("<!--  a   b  -->");
    same("<p title=\"a   b\" alt='c   d'>");
    same("<p style=\"white-space: pre\">a   b</p>");
    same("<PRE>a   b</PRE>");
    check("<p   class=a\n\n   id = \"b  c\"  >", "<p class=a\nid = \"b  c\" >");
    check("<input value=\"  x  \"   >", "<input value=\"  x  \" >");
    same("#[[  a   b  ]]#");
  }

  @Test
  void removesBlanksOfTablesAndHeads() {
    check("<table>\n  <tr>\n    <td>  a  b  </td>\n  </tr>\n</table>\n", "<table><tr><td>a b</td></tr></table>");
    check("<html>\n<head>\n  <meta charset=utf-8>\n  <title>a  b</title>\n</head>\n<body>\n  x\n</body></html>",
        "<html><head><meta charset=utf-8><title>a  b</title></head><body>x</body></html>");
    check("<div>\n  <p>a</p>\n</div>", "<div>\n<p>a</p>\n</div>");
    assertEquals("<div><p>a</p></div>", shrink(SPACE.blocks(true), "<div>\n  <p>  a</p>\n</div>").after());
  }

  @Test
  void keepsDirectivesAndReferences() {
    check("a  $x  b  ${y}  c", "a $x b ${y} c");
    check("#set( $a  =  \"b   c\" )\na   b", "#set( $a  =  \"b   c\" )\na b");
    check("a\n   \n  #if( $x  ==  1 )\n   b   c\n  #end\nd", "a\n  #if( $x  ==  1 )\nb c\n  #end\nd");
    check("<ul>\n\n  #foreach( $i  in  $l )\n    <li>$i  x</li>\n  #end\n</ul>",
        "<ul>\n  #foreach( $i  in  $l )\n<li>$i x</li>\n  #end\n</ul>");
    same("<a href=\"#top\">x</a>");
    check("#macro( m  $a )\n  <b>$a</b>   x\n#end\n#m(  \"a   b\" )  y   z",
        "#macro( m  $a )\n <b>$a</b> x\n#end\n#m(  \"a   b\" ) y z");
    check("\\$x   \\#if   y", "\\$x \\#if y");
  }

  @Test
  void joinsTheStatesOfBranches() {
    check("#if($a)<pre>#else<div>#end  x   y", "#if($a)<pre>#else<div>#end  x   y");
    check("#if($a)<div class='x'>#else<div>#end  x   y", "#if($a)<div class='x'>#else<div>#end x y");
    check("<p#if($a) class=\"a  b\"#end   id=c>  x", "<p#if($a) class=\"a  b\"#end id=c> x");
    check("<h$n>a   b</h$n>", "<h$n>a b</h$n>");
    same("<$tag>a   b</$tag>");
    same("<p$tag>a   b");
    same("#foreach($i in $l)<pre>  x #end   y");
    same("#foreach($i in $l)a   b<pre>#end</pre>");
  }

  @Test
  void keepsBlanksOfMacrosUsedInPre() {
    check("#macro(m)a   b#end<p>#m()</p>", "#macro(m)a b#end<p>#m()</p>");
    same("#macro(m)a   b#end<pre>#m()</pre>");
    same("#macro(m)#n()#end#macro(n)a   b#end<pre>#m()</pre>");
    check("#macro(m)a=1   b=2#end<p #m()>", "#macro(m)a=1 b=2#end<p #m()>");
    same("#define($d)a   b#end<pre>$d</pre>");
    check("#define($d)a   b#end<p>$d</p>", "#define($d)a b#end<p>$d</p>");
    same("#define($d)a   b#end#other($d)");
    check("#macro(o)<pre>#end#o()a   b</pre>", "#macro(o)<pre>#end#o()a   b</pre>");
  }

  @Test
  void keepsBlanksOfFilesParsedInPre() {
    Map<String, String> sources = new LinkedHashMap<>();
    sources.put("page.vm", "<pre>#parse(\"in/pre.vm\")</pre>   <p>#parse('free.vm')</p>#parse(\"opens.vm\")  a   b");
    sources.put("in/pre.vm", "a   b");
    sources.put("free.vm", "a   b");
    sources.put("opens.vm", "<textarea>  x");
    List<String> after = new Shrinker(SPACE).shrink(sources).stream().map(ShrunkTemplate::after).toList();
    assertEquals(List.of("<pre>#parse(\"in/pre.vm\")</pre> <p>#parse('free.vm')</p>#parse(\"opens.vm\")  a   b",
        "a   b", "a b", "<textarea>  x"), after);
  }

  @Test
  void keepsBlanksOnRequest() {
    check("a   b\n## yunti:keep\nc   d\n## yunti:squeeze\ne   f", "a b\n## yunti:keep\nc   d\n## yunti:squeeze\ne f");
  }

  @Test
  void changesNothingWithAllStepsOff() {
    String source = "## yunti:client-loop\n#foreach($i in $l)<li>$i   </li>\n#end\n<p>  a  </p>";
    ShrunkTemplate shrunk = shrink(ShrinkOptions.none(), source);
    assertEquals(source, shrunk.after());
    assertEquals(source, shrink(SPACE, "## yunti:client-loop\n#foreach($i in $l)<li>$i   </li>\n#end\n<p>  a  </p>")
        .before());
  }

  private static final ShrinkOptions LOOPS = SPACE.clientLoops(true);

  /** Returns the page after the browser ran the scripts of converted loops. */
  private static String expand(String page) throws JsonException {
    Matcher script = Pattern.compile("<script>\\(function.*?\\}\\)\\((\\[.*?\\]),\\[((?:\\[.*?\\],)*)\\]\\)</script>",
        Pattern.DOTALL).matcher(page);
    StringBuilder expanded = new StringBuilder();
    while (script.find()) {
      List<?> statics = (List<?>) JsonReader.read(script.group(1));
      StringBuilder rows = new StringBuilder();
      String values = script.group(2);
      for (Object row : (List<?>) JsonReader.read("[" + values.replaceFirst(",$", "") + "]")) {
        for (int i = 0; i < statics.size(); i++) {
          rows.append(statics.get(i)).append(i < ((List<?>) row).size() ? ((List<?>) row).get(i) : "");
        }
      }
      script.appendReplacement(expanded, Matcher.quoteReplacement(rows.toString()));
    }
    return script.appendTail(expanded).toString();
  }

  @Test
  void sendsMarkedLoopsAsValues() throws JsonException {
    String source = "<ul>\n## yunti:client-loop\n#foreach($p in $l)\n  <li id=\"p$foreach.count\" class='$9 #'>$p.a, "
        + "#set($b = $p.b)#if($b > 1)<b>$b</b>\n  #end\n#foreach($i in [1..2])$i;#end</li>\n#end\n</ul>";
    List<Object> items = List.of(Map.of("a", "x\"</script><i>茶</i>\\n", "b", 1), Map.of("a", "y\n  z", "b", 2),
        Map.of("b", 3));
    for (String gobbling : List.of("none", "bc", "lines", "structured")) {
      Properties properties = new Properties();
      properties.setProperty("parser.space_gobbling", gobbling);
      ShrunkTemplate shrunk = shrink(LOOPS.properties(properties), source);
      assertEquals(List.of(), shrunk.notes());
      assertEquals(1, shrunk.loops());
      VelocityEngine engine = engine(gobbling);
      String page = render(engine, source, Map.of("l", items));
      String converted = render(engine, shrunk.after(), Map.of("l", items));
      assertEquals(Dom.of(page, false), Dom.of(expand(converted), false), converted);
      assertTrue(converted.contains("(function(t,r)"), converted);
    }
  }

  @Test
  void reportsLoopsThatCannotBeConverted() {
    String mark = "## yunti:client-loop\n";
    for (String[] loop : new String[][] {{"#foreach($p in $l)<li>#break</li>#end", "must not contain"},
        {"#foreach($p in $l)<li>#else none#end", "#else"},
        {"#foreach($p in $l)<li title=\"$p\"#end", "outside of tags"}, {"#foreach($p in $l)<script>f($p)</script>#end",
        "scripts"}, {"<p>#foreach($p in $l)#end</p>", "not before a #foreach"}, {"#foreach($p in $l)#end", "no row"}}) {
      ShrunkTemplate shrunk = shrink(ShrinkOptions.none().clientLoops(true), mark + loop[0]);
      assertEquals(mark + loop[0], shrunk.after());
      assertTrue(shrunk.notes().get(0).startsWith("page.vm:") && shrunk.notes().get(0).contains(loop[1]), shrunk.notes()
          .toString());
    }
  }

  @Test
  void reportsTemplatesThatVelocityCannotParse() {
    ShrunkTemplate shrunk = shrink(SPACE, "#if($x)  a");
    assertEquals("#if($x)  a", shrunk.after());
    assertTrue(shrunk.notes().get(0).startsWith("page.vm: Velocity cannot parse it: "), shrunk.notes().toString());
  }

  @Test
  void shrinksTheShopsPageWithoutVisibleChange() throws IOException {
    Path folder = Path.of("../example/src/main/resources");
    String source = Files.readString(folder.resolve("search.vm"));
    ShrunkTemplate shrunk = shrink(SPACE, source);
    assertEquals(List.of(), shrunk.notes());
    assertTrue(shrunk.after().length() < source.length() * 0.95, source.length() + " -> " + shrunk.after().length());
    Map<String, Object> product = Map.of("id", 7, "name", "茶  a", "price", "3.00", "tags", List.of("a", "b"), "reduced",
        true, "stars", 4);
    Map<String, Object> model = Map.of("facets", Map.of("x", 1), "products", List.of(product, product), "cart",
        List.of(product), "page", 2, "pages", 9,
        "words", "a", "category", "x");
    VelocityEngine engine = new VelocityEngine();
    engine.init();
    assertEquals(Dom.of(render(engine, source, model), false), Dom.of(render(engine, shrunk.after(), model), false));
  }

  static String render(VelocityEngine engine, String source, Map<String, Object> model) {
    StringWriter out = new StringWriter();
    engine.evaluate(new VelocityContext(new java.util.HashMap<>(model)), out, "page", source);
    return out.toString();
  }

  static VelocityEngine engine(String gobbling) {
    Properties properties = new Properties();
    properties.setProperty("parser.space_gobbling", gobbling);
    properties.setProperty("runtime.custom_directives", "org.yunti.web.delivery.ClientValue");
    VelocityEngine engine = new VelocityEngine(properties);
    engine.init();
    return engine;
  }
}
