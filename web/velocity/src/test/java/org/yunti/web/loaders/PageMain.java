package org.yunti.web.loaders;

import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;
import org.yunti.web.velocity.CompiledTemplate;

/** Program that renders a page until its references are linked; {@link LoadersTest} starts it in several ways. */
public final class PageMain {
  static final String PAGE = "[a1][b2] ab 0";

  private PageMain() {}

  /** Model of the page. */
  public record Item(String name, int number) {
    public String getName() {
      return name;
    }

    public int times(int n) {
      return number * n;
    }
  }

  /** Returns the page after linking, and the number of interpreted nodes, 0. */
  public static String page() {
    VelocityEngine engine = new VelocityEngine();
    engine.setProperty("resource.loaders", "string");
    engine.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    engine.setProperty("resource.loader.string.cache", "true");
    engine.setProperty("resource.loader.string.repository.static", "false");
    engine.setProperty("resource.manager.class", "org.yunti.web.velocity.CompilingResourceManager");
    engine.init();
    StringResourceRepository all =
        (StringResourceRepository) engine.getApplicationAttribute(StringResourceLoader.REPOSITORY_NAME_DEFAULT);
    all.putStringResource("t",
        "#macro(m $i)[$i.name$i.times(1)]#end#foreach($i in $items)#m($i)#end #foreach($i in $items)$i.name#end");
    Template template = engine.getTemplate("t");
    String page = "";
    for (int i = 0; i < 100; i++) {
      StringWriter writer = new StringWriter();
      Map<String, Object> model = new HashMap<>(Map.of("items", List.of(new Item("a", 1), new Item("b", 2))));
      template.merge(new VelocityContext(model), writer);
      page = writer.toString();
    }
    return page + " " + ((CompiledTemplate) template).explanation().interpretedNodes();
  }

  /** Prints the page and the module of the compiler. */
  public static void main(String[] arguments) {
    System.out.println(page() + " in module " + CompiledTemplate.class.getModule().getName());
  }
}
