package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.table.written.FakeServer;
import org.yunti.table.written.TableWriter;

/** The Java of docs/guide/tables.md compiles and runs. */
class GuideTest {
  private static final int SNIPPETS = 6;

  @TempDir
  Path folder;

  @Test
  void theGuidesSnippetsRun() throws Exception {
    Path table = folder.resolve("users.ytab");
    new TableWriter("user_id:i64,name:utf8,city:dict,score:f32?", "user_id").sorted()
        .add(4711L, "Ada", "Köln", 1f).add(4713L, "Bob", "Ulm", null).write(table);
    FakeServer server = new FakeServer("users", "user_id:i64,name:utf8", "user_id").add(4711L, "Ada").listen();
    server.token = "secret";
    StringBuilder source = new StringBuilder("import java.nio.file.*; import java.time.*; import java.util.*; "
        + "import org.yunti.table.*; import org.yunti.table.client.*; import org.yunti.table.frozen.*;\n"
        + "public class Guide {\n");
    int count = 0;
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(guide());
    while (block.find()) {
      String names = block.group(1).matches("(?s).*(SharedTable|TableClient) users.*") ? "" : "SharedTable users";
      source.append("public static void snippet").append(count++).append("(").append(names)
          .append(") throws Exception {\n").append(block.group(1).replaceAll("import .*;\n", ""))
          .append("}\n");
    }
    assertEquals(SNIPPETS, count);
    run(source.append("}\n").toString().replace("users.ytab", table.toString())
        .replace("items.ytab", folder.resolve("items.ytab").toString())
        .replace("\"unix:/run/users\"", "\"" + server.address() + "\"")
        .replace("10.0.0.7:7070", server.address()), count, table);
    server.close();
  }

  private static String guide() throws IOException {
    return Files.readString(Path.of(System.getProperty("basedir", "")).resolve("../../docs/guide/tables.md"));
  }

  private void run(String source, int count, Path path) throws Exception {
    Path file = Files.writeString(folder.resolve("Guide.java"), source);
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    int result = ToolProvider.getSystemJavaCompiler().run(null, messages, messages, "-d", folder.toString(),
        "-cp", System.getProperty("java.class.path"), file.toString());
    assertEquals(0, result, messages + source);
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()});
        SharedTable users = SharedTable.open(path)) {
      Class<?> guide = loader.loadClass("Guide");
      int ran = 0;
      for (java.lang.reflect.Method method : guide.getMethods()) {
        if (method.getName().startsWith("snippet")) {
          method.invoke(null, method.getParameterCount() == 0 ? new Object[0] : new Object[] {users});
          ran++;
        }
      }
      assertTrue(ran == count);
    }
  }
}
