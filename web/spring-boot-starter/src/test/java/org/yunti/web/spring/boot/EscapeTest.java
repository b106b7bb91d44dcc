package org.yunti.web.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.tools.generic.EscapeTool;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.yunti.web.page.PageRenderer;

/** Tests of the guide's ways to escape HTML. */
class EscapeTest {
  private static final Map<String, Object> MODEL = Map.of("name", "<script>\"&", "rawHtml", "<hr>", "esc",
      new EscapeTool());
  private final WebApplicationContextRunner runner =
      new WebApplicationContextRunner().withConfiguration(AutoConfigurations.of(YuntiVelocityAutoConfiguration.class));

  private static void check(PageRenderer pages, String template, String expected) {
    StringBuilder text = new StringBuilder();
    try {
      pages.whole(template, new VelocityContext(new HashMap<>(MODEL)),
          page -> text.append(new String(page.array(), 0, page.size(), StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new AssertionError(e); // the consumer throws none
    }
    assertEquals(expected, text.toString());
  }

  @Test
  void escapesAReferenceByTheTool() {
    runner.run(context -> check(context.getBean(PageRenderer.class), "tool.vm",
        "<p>&lt;script&gt;&quot;&amp;</p>\n"));
  }

  @Test
  void escapesNothingByItself() {
    runner.run(context -> check(context.getBean(PageRenderer.class), "escaped.vm",
        "<p title=\"<script>\"&\"><script>\"&</p><b><script>\"&</b><hr><i><script>\"&</i>\n"));
  }

  @Test
  void escapesEveryReferenceByAnEventHandler() {
    String escaped = "&lt;script&gt;&quot;&amp;";
    for (String compile : new String[] {"true", "false"}) {
      runner.withPropertyValues("yunti.velocity.compile=" + compile,
          "yunti.velocity.properties.event_handler.reference_insertion.class="
              + "org.apache.velocity.app.event.implement.EscapeHtmlReference",
          "yunti.velocity.properties.eventhandler.escape.html.match=(?![$]!?[{]?(raw|bodyContent)).*")
          .run(context -> check(context.getBean(PageRenderer.class), "escaped.vm", "<p title=\"" + escaped + "\">"
              + escaped + "</p><b>" + escaped + "</b><hr><i>" + escaped + "</i>\n"));
    }
  }
}
