package org.yunti.web.oracle.curated;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/** Tests of templates with custom directives. */
class DirectivesTest {
  private static final String ALL = Stream.of(Directives.Show.class, Directives.Upper.class, Directives.Repeat.class,
      Directives.Fill.class)
      .map(Class::getName).reduce((a, b) -> a + ',' + b).orElseThrow();

  private static final List<String> TEMPLATES = List.of(
      "a #show($s 1 \"x$i\") b $shown",
      "#show()|#show($unknown $none)|#show([1,2] {'a':1} [1..3] true -1 1.5 'q' (1 + 1))",
      "#upper()a $s #if($yes)b#end é#end c",
      "#upper()\n  a $t\n#end\n  #upper()\n    b\n  #end\nc",
      "#repeat(3)x$time $s#end $time",
      "#repeat(2)\n  #foreach($x in $nums)\n    $x$time\n  #end\n#end\n",
      "#repeat(2)a#break b#end c",
      "#foreach($x in $nums)#repeat(2)$x#break#end|#end",
      "#repeat(3)a#break($repeat)#end b$!repeat",
      "#fill($q.name)$q.name #fill($fresh)$fresh #fill($map['k'])$map.k",
      "#upper()#upper()a#end$s#repeat(2)b#show($time)#end#end",
      "#macro(m $a)#upper()$a$!bodyContent#end#show($a)#end#m($s) #@m($i)body#end #m($unknown)",
      "#define($d)#upper()in define $s#end#end$d $d",
      "#upper()$q.fail('why')#end",
      "a\n #repeat('x')b#end",
      "#evaluate('#upper()a#end #show($s)') #set($x = \"#upper()$s#end\")$x",
      "\\#upper() \\\\#upper()a#end \\#show() #{show}($s) #{upper}()a#{end} #show x #upper x",
      "#upper() no end",
      "#parse('part.vm') #upper()#parse('part.vm')#end",
      "#upper()a#stop b#end c");

  @TestFactory
  Stream<DynamicTest> directives() {
    return TEMPLATES.stream()
        .flatMap(template -> Stream.of("none", "bc", "lines", "structured").map(spaces -> of(template, spaces)))
        .map(c -> DynamicTest.dynamicTest(c.name(), () -> CuratedTest.same(c)));
  }

  private static Case of(String template, String spaces) {
    Case c = new Case("directives/" + spaces + ' ' + template).main(template);
    c.template("part.vm", "part #upper()u $s#end #show($s)");
    c.property("runtime.custom_directives", ALL).property("parser.space_gobbling", spaces)
        .property("fill.with", "full");
    c.property("context.scope_control.repeat", "structured".equals(spaces) ? "false" : "true");
    for (int round : new int[] {0, 1, 2}) {
      c.page(() -> Model.context(round), Sinks.WRITER);
    }
    return c.page(() -> Model.context(0), Sinks.UTF_8);
  }
}
