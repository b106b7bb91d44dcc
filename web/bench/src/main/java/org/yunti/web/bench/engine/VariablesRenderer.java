package org.yunti.web.bench.engine;

import java.util.List;
import java.util.Map;
import org.apache.velocity.VelocityContext;
import org.yunti.web.bench.model.Facet;
import org.yunti.web.bench.model.Item;
import org.yunti.web.bench.model.SearchPage;
import org.yunti.web.bench.page.Pages;

/**
 * Renderer without output: sets the variables of a page's loops in a Velocity context, as the page does, and removes
 * them. Its allocations come from the context, which any engine for the template must change in the same way.
 */
final class VariablesRenderer {
  private static final Object SCOPE = new Object();

  private VariablesRenderer() {}

  static Renderer of(String page) {
    Map<String, Object> model = Pages.of(page).model();
    return page.equals(Pages.STOCKS)
        ? out -> loop(VelocityRenderer.context(model), "stock", (List<?>) model.get("items"))
        : out -> search(VelocityRenderer.context(model), (SearchPage) model.get("page"));
  }

  private static void search(VelocityContext context, SearchPage page) {
    loop(context, "category", page.getCategories());
    context.put("foreach", SCOPE);
    for (Facet facet : page.getFacets()) {
      context.put("facet", facet);
      inner(context, "value", facet.getValues());
    }
    context.remove("facet");
    for (Item item : page.getItems()) {
      context.put("item", item);
      inner(context, "tag", item.getTags());
    }
    context.remove("item");
    context.remove("foreach");
    loop(context, "link", page.getLinks());
    loop(context, "word", page.getRelated());
  }

  private static void loop(VelocityContext context, String variable, List<?> values) {
    context.put("foreach", SCOPE);
    inner(context, variable, values);
    context.remove("foreach");
  }

  /** Runs a nested loop, which finds {@code $foreach} in the context and leaves it there. */
  private static void inner(VelocityContext context, String variable, List<?> values) {
    for (Object value : values) {
      context.put(variable, value);
    }
    context.remove(variable);
  }
}
