package org.yunti.web.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.yunti.web.velocity.output.ByteWriter;

/** Tests of AsyncPage and AsyncFragments, with compiled and interpreted templates. */
class AsyncPageTest {
  private static final AsyncPage.Settings DEFAULTS = new AsyncPage.Settings("<i>wait</i>", "<i>sorry</i>", 20_000);

  /** Model that waits for the test, or throws. */
  public static final class Slow {
    private final CountDownLatch latch;

    Slow(CountDownLatch latch) {
      this.latch = latch;
    }

    public String getText() throws InterruptedException {
      return latch.await(20, TimeUnit.SECONDS) ? "slow" : "never";
    }

    public String getFault() {
      throw new IllegalStateException("a fault");
    }
  }

  private final ExecutorService executor = Executors.newFixedThreadPool(4);
  private final CountDownLatch latch = new CountDownLatch(1);
  private final List<VelocityEngine> engines = new ArrayList<>();

  @BeforeEach
  void engines() {
    for (boolean compiles : new boolean[] {false, true}) {
      Properties properties = new Properties();
      properties.setProperty("resource.loaders", "string");
      properties.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
      properties.setProperty("resource.loader.string.repository.static", "false");
      properties.setProperty("resource.loader.string.repository.name", "templates");
      properties.setProperty("runtime.custom_directives", AsyncBlock.class.getName() + ","
          + ClientValue.class.getName());
      if (compiles) {
        properties.setProperty("resource.manager.class", "org.yunti.web.velocity.CompilingResourceManager");
      }
      VelocityEngine engine = new VelocityEngine(properties);
      engine.init();
      engines.add(engine);
    }
  }

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  private static void put(VelocityEngine engine, String text) {
    ((StringResourceRepository) engine.getApplicationAttribute("templates")).putStringResource("page.vm", text);
  }

  private VelocityContext context() {
    return new VelocityContext(new HashMap<>(Map.of("slow", new Slow(latch), "items", List.of("a", "b", "c"))));
  }

  /** Returns the page without its scripts, then its blocks in order. */
  private static List<String> parts(String page) {
    List<String> parts = new ArrayList<>();
    Matcher block = Pattern.compile("<template id=\"(yunti-async-\\d+)t\">(.*?)</template><script>.*?</script>\n",
        Pattern.DOTALL).matcher(page);
    StringBuilder rest = new StringBuilder();
    while (block.find()) {
      block.appendReplacement(rest, "");
      parts.add(block.group(1) + ":" + block.group(2));
    }
    block.appendTail(rest);
    parts.add(0, rest.toString());
    return parts;
  }

  private String render(VelocityEngine engine, String text, AsyncPage page) throws IOException {
    put(engine, text);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ByteWriter out = ByteWriter.to(bytes, StandardCharsets.UTF_8);
    page.render(engine.getTemplate("page.vm"), context(), out);
    out.close();
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private AsyncPage page() {
    return new AsyncPage(executor, DEFAULTS);
  }

  @Test
  void flushesThePageBeforeItsBlock() throws Exception {
    for (VelocityEngine engine : engines) {
      put(engine, "<p>a</p>#async({\"placeholder\": \"…\"})<p>$slow.text</p>#end<p>b</p>");
      StringBuilder seen = new StringBuilder();
      CountDownLatch first = new CountDownLatch(1);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream() {
        @Override
        public void flush() {
          if (first.getCount() > 0) {
            seen.append(toString(StandardCharsets.UTF_8));
            first.countDown();
          }
        }
      };
      CountDownLatch own = new CountDownLatch(1);
      VelocityContext context = new VelocityContext(new HashMap<>(Map.of("slow", new Slow(own))));
      ByteWriter out = ByteWriter.to(bytes, StandardCharsets.UTF_8);
      Thread thread = new Thread(() -> {
        try {
          page().render(engine.getTemplate("page.vm"), context, out);
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      });
      thread.start();
      assertTrue(first.await(20, TimeUnit.SECONDS));
      assertEquals("<p>a</p><div id=\"yunti-async-1\">…</div><p>b</p>", seen.toString());
      own.countDown();
      thread.join(20_000);
      assertEquals(List.of("<p>a</p><div id=\"yunti-async-1\">…</div><p>b</p>", "yunti-async-1:<p>slow</p>"),
          parts(bytes.toString(StandardCharsets.UTF_8)));
    }
  }

  @Test
  void rendersABlockWithTheContextAsItWas() throws Exception {
    for (VelocityEngine engine : engines) {
      List<String> parts = parts(render(engine,
          "#foreach($i in $items)#set($x = $i)#async()$x $foreach.count $foreach.hasNext#set($y = 1)#end#end"
              + "#set($x = 9)$x $!y", page()));
      assertTrue(parts.get(0).endsWith("9 "), parts.get(0));
      assertEquals(List.of("yunti-async-1:a 1 true", "yunti-async-2:b 2 true", "yunti-async-3:c 3 false"),
          parts.subList(1, 4).stream().sorted().toList());
    }
  }

  @Test
  void rendersMacrosInBlocks() throws Exception {
    for (VelocityEngine engine : engines) {
      List<String> parts =
          parts(render(engine, "#macro(m $a)<b>$a</b>#end#macro(box $a)#async()#m($a)#end#end#box(\"x\")#box(\"y\")",
          page()));
      assertEquals(List.of("yunti-async-1:<b>x</b>", "yunti-async-2:<b>y</b>"), parts.subList(1, 3).stream().sorted()
          .toList());
    }
  }

  @Test
  void showsTheErrorTextOfFailedAndLateBlocks() throws Exception {
    for (VelocityEngine engine : engines) {
      assertEquals("yunti-async-1:<i>sorry</i>", parts(render(engine, "#async()$slow.fault#end", page())).get(1));
      assertEquals("yunti-async-1:late",
          parts(render(engine, "#async({\"timeout\": 30, \"error\": \"late\"})$slow.text#end", page())).get(1));
    }
  }

  @Test
  void showsTheErrorTextIfTheExecutorRefuses() throws Exception {
    AsyncPage.Settings settings = new AsyncPage.Settings("", "full", 5_000);
    for (VelocityEngine engine : engines) {
      AsyncPage page = new AsyncPage(task -> {
        throw new RejectedExecutionException();
      }, settings);
      assertEquals("yunti-async-1:full", parts(render(engine, "#async()x#end", page)).get(1));
    }
  }

  @Test
  void rendersBlocksInPlaceWithoutAsyncPage() throws Exception {
    for (VelocityEngine engine : engines) {
      put(engine, "a#async({\"timeout\": 1})#set($y = 2)<b>$items[0]</b>#end$y");
      StringWriter out = new StringWriter();
      engine.getTemplate("page.vm").merge(context(), out);
      assertEquals("a<b>a</b>2", out.toString());
    }
  }

  @Test
  void rendersNestedBlocksInPlace() throws Exception {
    for (VelocityEngine engine : engines) {
      assertEquals("yunti-async-1:1 2 3", parts(render(engine, "#async()1 #async()2#end 3#end", page())).get(1));
    }
  }

  @Test
  void reportsUnknownArguments() {
    for (VelocityEngine engine : engines) {
      VelocityException e = assertThrows(VelocityException.class, () -> render(engine, "\n#async({\"time\": 3})x#end",
          page()));
      assertTrue(e.getMessage()
          .contains("page.vm[line 2, column 1] does not know \"time\"; it takes placeholder, error, timeout"),
          e.getMessage());
    }
  }

  @Test
  void restoresTheContext() throws Exception {
    VelocityEngine engine = engines.get(1);
    put(engine, "#async()x#end");
    VelocityContext context = context();
    page().render(engine.getTemplate("page.vm"), context,
        ByteWriter.to(new ByteArrayOutputStream(), StandardCharsets.UTF_8));
    assertFalse(List.of(context.getKeys()).contains(AsyncPage.KEY));
  }

  @Test
  void servesAFragmentOnce() throws Exception {
    for (VelocityEngine engine : engines) {
      AsyncFragments fragments = new AsyncFragments("/f/", 2);
      String page = render(engine, "#foreach($i in $items)#async()<b>$i</b>#end#end",
          new AsyncPage(executor, DEFAULTS, "abc=", fragments));
      assertTrue(page.contains("<script nonce=\"abc=\">"), page);
      Matcher path = Pattern.compile("\"(/f/[0-9a-f]{32})\"").matcher(page);
      List<String> blocks = new ArrayList<>();
      while (path.find()) {
        blocks.add(fragments.take(path.group(1)));
        assertNull(fragments.take(path.group(1)));
      }
      List<String> expected = new ArrayList<>(List.of("<b>b</b>", "<b>c</b>"));
      expected.add(0, null);
      assertEquals(expected, blocks);
    }
  }

  @Test
  void escapesValuesForJavaScript() throws Exception {
    StringWriter out = new StringWriter();
    new LiteralWriter(out).write("a\"b\\c</script>\n\u2028\u0001茶$");
    assertEquals("a\\\"b\\\\c\\u003c/script>\\n\\u2028\\u0001茶$", out.toString());
  }
}
