package org.yunti.web.oracle.curated;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.velocity.context.Context;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/** Tests of event handlers of the engine, of the context, and of both. */
class EventHandlersTest {
  private static final Map<String, List<String>> TEMPLATES = Map.of(
      "insertion", List.of(
          "$s ${s} $!s $none $!none $unknown $html $!html $gone $!gone $made $p.made $q.name $q.text(\"$html\")"
              + " \\$s \\$unknown",
          "#set($x = \"<$html>\")$x #macro(m $html)$html#end#m($s) #define($gone)d#end$gone $rendered $list[0]"
              + " ${unknown|'alt'} $$s \\\\$html",
          "#foreach($made in $list)$made#end #if($html == $s)a#end #evaluate('$html') $t $nullText $asString"),
      "invalid", List.of(
          "$unknown $!unknown $made $!made $q.unknown $q.made $!q.made $q.unknown() $q.made() $none $none.x"
              + " $q.nothing $!q.nothing",
          "#if($unknown)a#end#if($made)b#end#if($q.unknown)c#end#if($q.made)d#end#if($unknown.x)e#end"
              + "#if($q.friend.made.x)f#end",
          "#set($x = $unknown)$x#set($x = $made)$x#set($x = $none)$!x#set($made2 = $none)#set($q.name = $unknown)",
          "#foreach($x in $unknown)a#end #foreach($x in $made)$x#end #macro(m $a)$a $!a#end#m($unknown) #m($made)"
              + " $map.nil $map.made $map.key",
          "#foreach($x in $people)$x.model $x.made $x.friend.model#if($x.model)m#end#end"
              + " ${unknown|'alt'} ${made|'alt'} $list[9] $map['made']",
          "$q.unknown.made $q.returnsNull().made $q.returnsNull() $p.made() #set($q.made.x = 1) $shape.secret"
              + " $q.pick($made)"),
      "method", List.of(
          "a $q.fail('why') $q.fail('null') $!q.fail('null') $q.failing $q.broken $q.friend.failing.length() b",
          "a $q.fail('rethrow') b", "a $q.illegal('why') $q.only('x') b", "a $q.error() b", "a $q.fatal b",
          "#if($q.fail('why'))a#end #if($q.failing == 'caught checked')b#end #set($x = $q.fail('why'))$x"
              + " #set($q.failing = 1) c",
          "a #set($q.broken = 1) b", "a $fixed.add(1) b $fixed[9] c",
          "#foreach($x in $q.fail('x').toCharArray())$x#end"),
      "include", List.of(
          "#parse('part.vm') #parse('other.vm') #parse('refused.vm') #parse($none) #include('other.vm')"
              + " #include('refused.vm')",
          "#parse('nested.vm') #foreach($x in ['part.vm', 'refused', 'other.vm'])#parse($x)#include($x)#end",
          "#include($none)", "#parse('missing.vm')"));

  @TestFactory
  Stream<DynamicTest> handlers() {
    List<Case> cases = new ArrayList<>();
    for (String kind : EventHandlers.KINDS) {
      for (String template : TEMPLATES.get(kind)) {
        for (int where = 0; where < 4; where++) {
          cases.add(of(kind, template, where));
        }
      }
    }
    for (String option : List.of("quiet", "null", "tested")) {
      for (String template : TEMPLATES.get("invalid")) {
        cases.add(of("invalid", template, 1).property("event_handler.invalid_references." + option, "true"));
      }
    }
    return cases.stream().map(c -> DynamicTest.dynamicTest(c.name(), () -> CuratedTest.same(c)));
  }

  /**
   * Returns a case.
   *
   * @param where 0: in the engine, strict; 1: in the engine; 2: in the context; 3: in both
   */
  private static Case of(String kind, String template, int where) {
    Case c = new Case("events/" + kind + " " + where + ": " + template).main(template);
    c.template("part.vm", "[part $s]").template("nested.vm", "<#parse('other.vm')>");
    if (where != 2) {
      c.property(EventHandlers.property(kind), EventHandlers.classes(kind));
    }
    if (where == 0) {
      c.property("runtime.strict_mode.enable", "true");
    }
    for (int round : new int[] {0, 1, 2, 0}) {
      c.page(() -> context(kind, round, where == 2 || where == 3), Sinks.WRITER);
    }
    return c.page(null, Sinks.UTF_8);
  }

  private static Context context(String kind, int round, boolean attached) {
    Context context = Model.context(round);
    if (attached) {
      EventHandlers.attach(context, kind);
    }
    return context;
  }
}
