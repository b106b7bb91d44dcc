package org.yunti.web.oracle.curated;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.yunti.web.oracle.Case;
import org.yunti.web.oracle.Sinks;
import org.yunti.web.oracle.model.Model;

/**
 * Tests of messages and log lines about arguments: every directive with every kind of argument. Some messages contain
 * the class name of a node of the tree.
 */
class MessagesTest {
  private static final List<String> DIRECTIVES = List.of("#include(%s)", "#parse(%s)", "#evaluate(%s)", "a#stop(%s)b",
      "#foreach($x in $nums)$x#break(%s)#end", "#foreach($x in %s)$x#{else}none#end", "#set($x = %s)$!x",
      "#if(%s)yes#{else}no#end", "#macro(m $a $b)$a|$!b#end#m(%s)", "#macro(m $a)$a$!bodyContent#end#@m(%s)body#end",
      "#macro(m $a = %s)$a#end#m()", "#macro(m %s)#end#m()", "#define(%s)x#end", "#unknown(%s)", "#@unknown(%s)x#end",
      "$q.unknown(%s)", "$nums[%s]", "#names(%s)", "#nested(%s)x $s#if($yes)$i#end#end");
  private static final List<String> ARGUMENTS = List.of("", "word", "'text'", "'part.vm'", "\"a $s\"",
      "\"$q.fail('why')\"", "$s", "$none", "$!none", "${none|'b'}", "$d", "$q.name", "$q.fail('why')", "$nums[9]", "1",
      "1.5", "true", "null", "[]", "[1..3]", "[1, $s]", "{'a': $s}", "1 + 2", "$i - 'x'", "(1 / 0)", "!$yes", "-$s",
      "$i == 1", "$s < 1", "$yes && $none", "word 'text'", "$s $i");

  @TestFactory
  Stream<DynamicTest> messages() {
    return DIRECTIVES.stream()
        .flatMap(directive -> ARGUMENTS.stream().map(argument -> String.format(directive, argument)))
        .flatMap(template -> Stream.of(of(template, "false"), of(template, "true")))
        .map(c -> DynamicTest.dynamicTest(c.name(), () -> CuratedTest.same(c)));
  }

  private static Case of(String template, String strict) {
    return new Case("messages/strict=" + strict + ' ' + template)
        .main("#define($d)in d#end" + template)
        .template("part.vm", "part $s")
        .property("runtime.strict_mode.enable", strict)
        .property("runtime.custom_directives", Directives.Names.class.getName() + ',' + Directives.Nested.class
            .getName())
        .page(() -> Model.context(0), Sinks.WRITER)
        .page(() -> Model.context(0), Sinks.UTF_8);
  }
}
