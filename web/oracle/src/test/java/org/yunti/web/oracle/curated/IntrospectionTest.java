package org.yunti.web.oracle.curated;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/** Tests of custom uberspectors and conversion handlers. */
class IntrospectionTest {
  private static final String OWN = Introspection.Own.class.getName();

  private static final List<String> UBERSPECTS = List.of(OWN, "org.apache.velocity.util.introspection.UberspectImpl,"
      + OWN);

  private static final List<String> TEMPLATES = List.of(
      "$q.mine $q.mynot $q.myNull $!q.myNull $s.mine $list.mine $int.mynot",
      "$q.myCall() $q.myCall(1) $q.mynotCall() $q.myNull() $q.myVoidNull() x",
      "#foreach($x in [$q, $p, $robot, $q])$x.mine $x.mynot $x.name;#end",
      "#foreach($x in [$q, $p, $robot, $q])$x.myCall()\n$x.mynotCall(1) ;#end",
      "#set($q.mine = 1)#set($robot.mine = $s)#set($q.name = 'N')$q.name",
      "#foreach($x in $q)$x#end #foreach($x in $list)$x#end #foreach($x in $int)$x#end",
      "$q.myBad $q.mynotBad #if($q.myBad)a#end #if($q.mine)b#end",
      "$q.mine()$q.mine\n $q.mine() $q.friend.mine.length() $q.myCall()[0]", "$list[0] $map['a'] $q[0] $list[-1]",
      "#macro(m $a)$a.mine $a.myCall()#end#m($q)#m($robot)#m($s)");

  private static final List<String> CONVERSIONS = List.of(
      "$q.text(1) $q.text($double) $q.only('seven') $q.only('5') $q.many(1, 2) $q.bool(1) $q.color('RED')"
          + " $q.floats('1', '2')",
      "#set($q.name = 5)$q.name #set($q.age = 'seven')$q.age", "a $q.only('x') b",
      "#foreach($x in [1, 'a', 2.5, $none, $long])$q.text($x) #end");

  @TestFactory
  Stream<DynamicTest> introspection() {
    Stream<Case> own = UBERSPECTS.stream()
        .flatMap(u -> TEMPLATES.stream().map(t -> of(t).property("introspector.uberspect.class", u)));
    Stream<Case> conversion = Stream.of(Introspection.Conversion.class.getName(), "none")
        .flatMap(h -> CONVERSIONS.stream().map(t -> of(t).property("introspector.conversion_handler.class", h)));
    return Stream.concat(own, conversion).map(c -> DynamicTest.dynamicTest(c.name(), () -> CuratedTest.same(c)));
  }

  private static Case of(String template) {
    Case c = new Case("introspection/" + template).main(template);
    for (int kind : new int[] {0, 1, 2, 0}) {
      c.page(() -> Model.context(kind), Sinks.WRITER);
    }
    return c.page(null, Sinks.WRITER).page(null, Sinks.UTF_8);
  }
}
