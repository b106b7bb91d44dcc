package org.yunti.web.velocity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

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
    assertTrue(left.reason().contains(Twice.class.getName()), left.reason());
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
