package org.yunti.web.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.Node;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.web.shrink.json.JsonException;
import org.yunti.web.shrink.json.JsonReader;

class MainTest {
  @TempDir
  Path folder;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @BeforeEach
  void templates() throws IOException {
    Files.createDirectories(folder.resolve("t/in"));
    Files.writeString(folder.resolve("t/page.vm"),
        "<ul>\n## yunti:client-loop\n#foreach($p in $products)\n   <li class=\"product\">$p.name   "
            + "<b>$p.price</b></li>\n"
            + "#end\n</ul>\n#parse(\"in/foot.vm\")");
    Files.writeString(folder.resolve("t/in/foot.vm"), "<p>   $foot   茶</p>");
    Files.writeString(folder.resolve("t/style.css"), "a   b");
    Files.writeString(folder.resolve("model.json"),
        "{\"products\": [{\"name\": \"茶 a\", \"price\": 3}, {\"name\": \"b\", \"price\": 4.5}], \"foot\": null}");
  }

  private int run(String... words) {
    out.reset();
    err.reset();
    for (int i = 0; i < words.length; i++) {
      words[i] = words[i].replace("@", folder + "/");
    }
    return Main.run(words, new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void explainReportsCompiledNodes() throws JsonException {
    assertEquals(0, run("explain", "@t"));
    assertTrue(out()
        .matches("(?s)in/foot.vm: \\d+ of \\d+ nodes compiled .*page.vm: .*2 templates: \\d+ of \\d+ nodes compiled.*"),
        out());
    assertEquals(0, run("explain", "@t/page.vm", "--json"));
    Map<?, ?> page = (Map<?, ?>) ((List<?>) ((Map<?, ?>) JsonReader.read(out())).get("templates")).get(0);
    assertTrue((Integer) page.get("compiledNodes") > 5 && (Integer) page.get("bytecodeBytes") > 100, out());
  }

  @Test
  void explainReportsReasons() throws IOException {
    Files.writeString(folder.resolve("p.properties"), "runtime.log.track_location = true\n");
    assertEquals(0, run("explain", "@t/page.vm", "--properties", "@p.properties"));
    assertTrue(out().contains("interpreted as a whole: runtime.log.track_location is on"), out());
    Files.writeString(folder.resolve("t/bad.vm"), "#if($x)");
    assertEquals(1, run("explain", "@t"));
    assertTrue(out().contains("bad.vm: cannot be loaded: ") && out().contains("1 cannot be loaded"), out());
  }

  @Test
  void explainRoundsDown() throws IOException {
    Files.writeString(folder.resolve("p.properties"), "runtime.custom_directives = " + Hello.class.getName() + "\n");
    Files.writeString(folder.resolve("t/page.vm"), "$x".repeat(9_999) + "#hello()");
    assertEquals(0, run("explain", "@t/page.vm", "--properties", "@p.properties"));
    assertEquals("page.vm: 9999 of 10000 nodes compiled (99.9 %)", out().split(", ")[0]);
    assertTrue(out().endsWith("  page.vm:1:19999: directive of class " + Hello.class.getName()
        + ", which runs its own code; nothing to do, its block is compiled: #hello(...)\n"), out());
  }

  /** Directive of an application. */
  public static final class Hello extends Directive {
    @Override
    public String getName() {
      return "hello";
    }

    @Override
    public int getType() {
      return LINE;
    }

    @Override
    public boolean render(InternalContextAdapter context, Writer writer, Node node) throws IOException {
      writer.write("hello");
      return true;
    }
  }

  @Test
  void renderPrintsThePage() {
    assertEquals(0, run("render", "@t/page.vm", "--json", "@model.json"));
    assertTrue(out()
        .startsWith("<ul>\n   <li class=\"product\">茶 a   <b>3</b></li>\n   <li class=\"product\">b   <b>4.5</b>"),
        out());
    assertEquals(0, run("render", "@t/in/foot.vm", "--root", "@t", "--charset", "GBK"));
  }

  @Test
  void shrinkWritesAFolderAndReportsSavings() throws IOException, JsonException {
    assertEquals(0, run("shrink", "@t", "--output", "@small", "--client-loops", "--model", "@model.json", "--template",
        "page.vm"), err.toString(StandardCharsets.UTF_8));
    assertTrue(out().contains("loops converted: 1") && out().contains("page of page.vm, white space: ")
        && out().contains("page of page.vm, client loops: "), out());
    assertEquals("<p> $foot 茶</p>", Files.readString(folder.resolve("small/in/foot.vm")));
    assertEquals("a   b", Files.readString(folder.resolve("small/style.css")));
    assertEquals(0, run("render", "@small/page.vm", "--json", "@model.json"));
    assertTrue(out().contains("[[\"茶 a\",\"3\"],[\"b\",\"4.5\"],])</script>"), out());
  }

  @Test
  void copiesTheSameBytesWithAllStepsOff() throws IOException {
    assertEquals(0, run("shrink", "@t", "--output", "@same", "--keep-white-space", "--json"));
    for (String name : List.of("page.vm", "in/foot.vm", "style.css")) {
      assertEquals(Files.readString(folder.resolve("t/" + name)), Files.readString(folder.resolve("same/" + name)));
    }
  }

  @Test
  void reportsBadInputInOneLine() throws IOException {
    Files.writeString(folder.resolve("bad.json"), "{\"a\": 1,\n \"b\": nul}");
    Files.write(folder.resolve("latin.vm"), new byte[] {'a', (byte) 0xE9});
    Files.createDirectories(folder.resolve("empty"));
    Files.createDirectories(folder.resolve("latin"));
    Files.copy(folder.resolve("latin.vm"), folder.resolve("latin/l.vm"));
    for (String[] bad : new String[][] {{"a command is missing"}, {"is not a command", "compile"},
        {"is missing", "explain"}, {"does not exist", "explain", "@none"},
        {"is not an option", "explain", "@t", "--colour"}, {"--output DIR is missing", "shrink", "@t"},
        {"has no file", "shrink", "@empty",
            "--output", "@x"},
        {"is not a folder", "shrink", "@model.json", "--output", "@x"},
        {"in the folder of the templates", "shrink", "@t", "--output",
            "@t/small"},
        {"line 2, column 7: a value", "render", "@t/page.vm", "--json", "@bad.json"},
        {"is not a charset", "explain", "@t", "--charset",
            "x-none"},
        {"is not in UTF-8", "shrink", "@latin", "--output", "@x"}, {"needs --template NAME", "shrink", "@t", "--output",
        "@x", "--model",
            "@model.json"},
        {"needs a value", "render", "@t/page.vm", "--json"}, {"template none.vm does not exist", "shrink", "@t",
        "--output", "@x", "--model",
            "@model.json", "--template", "none.vm"}}) {
      int code = run(Arrays.copyOfRange(bad, 1, bad.length));
      String message = err.toString(StandardCharsets.UTF_8);
      assertTrue(code == 1 || code == 2, bad[0]);
      assertTrue(message.contains(bad[0]) && message.startsWith("yunti-velocity-tool: ")
          && message.indexOf('\n') == message.length() - 1, bad[0]
          + ": " + message);
    }
    assertFalse(Files.exists(folder.resolve("x/page.vm")));
  }
}
