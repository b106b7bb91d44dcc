package org.yunti.web.velocity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.context.InternalContextAdapterImpl;
import org.apache.velocity.runtime.RuntimeInstance;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.junit.jupiter.api.Test;
import org.yunti.web.velocity.compiler.Explanation;
import org.yunti.web.velocity.compiler.TemplateCompiler;
import org.yunti.web.velocity.tree.Internals;

/** Tests of the explanation: compiled nodes, and reasons for the rest. */
class CompiledTemplateTest {
  @Test
  void compilesEveryConstructOfAnOrdinaryPage() {
    RenderResult page = RenderResult.of(Engines.compiling(), """
        #macro(row $r $i)<tr class="#if($i % 2 == 0)even#{else}odd#end">$r.name ${r.price}</tr>#end
        #set($total = 0)
        #foreach($r in $rows)#row($r $foreach.index)#set($total = $total + $r.price)#if($total > 100)#break#end#end
        $total $!none ${none|'-'} "$rows[0].name" #evaluate('$total') #define($d)x#end$d \\$rows #[[ raw ]]# ## end
        """, Map.of("rows", List.of(Map.of("name", "a", "price", 60), Map.of("name", "b", "price", 50),
            Map.of("name", "c", "price", 1))));
    assertTrue(page.text().contains("110"), page.text());
    assertEquals(List.of(), page.explanation().interpreted());
    assertTrue(page.explanation().compiledNodes() > 40);
    assertTrue(page.explanation().bytecodeBytes() > 500);
  }

  @Test
  void namesCustomDirectives() {
    Properties properties = new Properties();
    properties.setProperty("runtime.custom_directives", Twice.class.getName());
    String template = "a\n b #twice()$x#end";
    String expected = RenderResult.of(Engines.make(properties), template, Map.of("x", "x")).text();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    RenderResult page = RenderResult.of(Engines.make(properties), template, Map.of("x", "x"));
    assertEquals(expected, page.text());
    assertTrue(expected.contains("xx"), expected);
    assertEquals(1, page.explanation().interpreted().size());
    var left = page.explanation().interpreted().get(0);
    assertEquals(2, left.line());
    assertEquals("directive of class org.yunti.web.velocity.Twice, which runs its own code; nothing to do, its block "
        + "is compiled", left.reason());
  }

  /** Checks the only reason of a template, and the page against stock Velocity. */
  private static void checkReason(String template, String reason) {
    Map<String, Object> model = Map.of("a", "a", "list", List.of(1));
    RenderResult page = RenderResult.of(Engines.compiling(), template, model);
    assertEquals(RenderResult.of(Engines.stock(), template, model).text(), page.text());
    assertEquals(List.of(reason), page.explanation().interpreted().stream().map(Explanation.Interpreted::reason)
        .toList());
  }

  @Test
  void statesReasonsInWords() {
    String large = "expression of more than 30000 bytes of bytecode, which is too large for a method; "
        + "split it with #set";
    checkReason("$list.contains([" + "$a.b, ".repeat(2_000) + "1])", large);
    checkReason("#set($x = [" + "$a.b, ".repeat(2_000) + "1])$x.size()", large);
    checkReason("$a.format('%s'" + ", $a".repeat(250) + ")|", "call with 251 arguments, which is too many for a method "
        + "handle; pass a list");
  }

  @Test
  void compilesWords() {
    RenderResult page = RenderResult.of(Engines.compiling(), "@see #item(Key) @link #list(word, $x)", Map.of());
    assertEquals("@see #item(Key) @link #list(word, $x)", page.text());
    assertEquals(List.of(), page.explanation().interpreted());
  }

  /** Node that the compiler does not know. */
  private static final class OwnNode extends SimpleNode {
    OwnNode(Template template) {
      super(-1);
      this.template = template;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer) throws IOException {
      writer.write("own");
      return true;
    }
  }

  @Test
  void interpretsUnknownNodes() throws Exception {
    RuntimeInstance services = new RuntimeInstance();
    services.init();
    Template template = new Template();
    template.setName("t.vm");
    SimpleNode root = services.parse(new StringReader("a $x c"), template);
    InternalContextAdapter context = new InternalContextAdapterImpl(new VelocityContext(Map.of("x", "x")));
    root.init(context, services);
    SimpleNode own = new OwnNode(template);
    own.jjtSetParent(root);
    Internals.CHILDREN.of(root)[1] = own;
    Explanation explanation = TemplateCompiler.compile(template, root, services);
    StringWriter page = new StringWriter();
    root.render(context, page);
    assertEquals("a own c", page.toString());
    assertEquals("node of class " + OwnNode.class.getName() + ", which Velocity 2.4.1 does not create; nothing to do, "
        + "the page is the same", explanation.interpreted().get(0).reason());
    assertEquals("", explanation.interpreted().get(0).literal());
  }

  @Test
  void interpretsTemplatesThatTrackLocations() {
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    properties.setProperty("runtime.log.track_location", "true");
    RenderResult page = RenderResult.of(Engines.make(properties), "$x", Map.of("x", "x"));
    assertEquals("x", page.text());
    assertNotNull(page.explanation().wholeReason());
  }
}
