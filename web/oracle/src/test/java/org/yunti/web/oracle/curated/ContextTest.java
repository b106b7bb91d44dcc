package org.yunti.web.oracle.curated;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/** Tests of custom contexts, which observe the reads of keys, their number and order, and of chained contexts. */
class ContextTest {
  private static final List<String> TEMPLATES = List.of(
      "$s $s ${s} $!s", "$unknown $!unknown $none $!none", "#if($s && $i || $unknown)a#end #if($none == $s)a#end",
      "#set($x = $s)$x #set($q.name = $s) #set($unknown.x = 1) #set($map['a'] = $i)",
      "#foreach($x in $nums)$x $foreach.count#end $x", "#foreach($x in $unknown)a#{else}$s#end",
      "#macro(m $a $b)$a $b $c#end#m($s) #m($s $i) #@m($none)body#end",
      "#macro(m $a)$bodyContent $a#end#@m($s)$a #@m($i)$a#end#end", "#define($d)$s#end$d $d #if($d)a#end",
      "#evaluate('$s #set($e = 1)')$e", "#set($x = \"$s $unknown\")$x", "${unknown|$s} ${s|$i} ${none|$unknown}",
      "$list[$zero] $map[$s] $q.pick($s, $i)", "#parse('part.vm')$p2",
      "#set($r = [$zero..$int])#set($m = {$s: $i})#set($x = $int + $long * $double)", "$p.name $p.friend.name");

  @TestFactory
  Stream<DynamicTest> questions() {
    return TEMPLATES.stream()
        .flatMap(template -> Stream.of("", "runtime.strict_mode.enable", "velocimacro.enable_bc_mode",
        "context.scope_control.template", "context.scope_control.macro").map(property -> of(template, property)))
        .map(c -> DynamicTest.dynamicTest(c.name(), () -> CuratedTest.same(c)));
  }

  private static Case of(String template, String property) {
    Case c = new Case("context/" + property + ' ' + template).main(template).template("part.vm", "$s #set($p2 = $s)");
    if (!property.isEmpty()) {
      c.property(property, "true");
    }
    for (int round : new int[] {0, 1, 2}) {
      c.page(() -> Model.context(round, true), Sinks.WRITER);
    }
    // The same context again has cached classes and methods.
    c.page(null, Sinks.WRITER);
    return c.page(null, Sinks.UTF_8);
  }
}
