package org.yunti.web.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.ResourceNotFoundException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.web.velocity.CompilingResourceManager;
import org.yunti.web.velocity.output.ByteWriter;

class PageRendererTest {
  @TempDir
  Path folder;
  private VelocityEngine engine;

  @BeforeEach
  void engine() throws IOException {
    Files.writeString(folder.resolve("page.vm"), "#foreach($w in $words)<b>$w</b>#end");
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    properties.setProperty("resource.loader.file.path", folder.toString());
    engine = new VelocityEngine(properties);
    engine.init();
  }

  private static VelocityContext words(String... words) {
    return new VelocityContext(new HashMap<>(Map.of("words", List.of(words))));
  }

  @Test
  void rendersTheSameBytesWholeAndStreamed() throws IOException {
    String expected = "<b>茶</b><b>café</b><b>\ud83c\udf75</b>";
    for (String name : List.of("UTF-8", "GBK", "UTF-16", "ISO-8859-1")) {
      Charset charset = Charset.forName(name);
      PageRenderer renderer = new PageRenderer(engine, charset);
      for (int round = 0; round < 3; round++) {
        byte[][] whole = new byte[1][];
        renderer.whole("page.vm", words("茶", "café", "\ud83c\udf75"), page -> whole[0] = page.toByteArray());
        ByteArrayOutputStream streamed = new ByteArrayOutputStream();
        renderer.streamed("page.vm", words("茶", "café", "\ud83c\udf75"), streamed);
        assertEquals(new String(expected.getBytes(charset), charset), new String(whole[0], charset), name);
        assertEquals(new String(whole[0], StandardCharsets.ISO_8859_1), streamed.toString(StandardCharsets.ISO_8859_1),
            name);
      }
    }
  }

  @Test
  void dropsHalfAPairAtTheEndOfAPage() throws IOException {
    PageRenderer renderer = new PageRenderer(engine);
    Files.writeString(folder.resolve("half.vm"), "$half");
    for (int i = 0; i < 2; i++) {
      renderer.whole("half.vm", new VelocityContext(new HashMap<>(Map.of("half", "\ud83c"))),
          page -> assertEquals("?", new String(page.toByteArray(), StandardCharsets.UTF_8)));
    }
  }

  @Test
  void discardsAPageThatFails() {
    PageRenderer renderer = new PageRenderer(engine);
    assertThrows(ResourceNotFoundException.class, () -> renderer.whole("none.vm", words(), page -> {
      throw new AssertionError();
    }));
  }

  @Test
  void reusesBuffersUnlessTheyAreLarge() throws IOException {
    BufferPool pool = new BufferPool(StandardCharsets.UTF_8);
    ByteWriter first = pool.take();
    first.write("x");
    pool.give(first);
    ByteWriter second = pool.take();
    assertSame(first, second);
    assertEquals(0, second.size());
    second.write("x".repeat(BufferPool.KEPT_BYTES_MAX + 1));
    pool.give(second);
    assertEquals(16 << 10, pool.take().array().length);
  }
}
