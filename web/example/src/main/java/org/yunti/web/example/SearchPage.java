package org.yunti.web.example;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.velocity.VelocityContext;
import org.yunti.web.http.TemplateHandler;

/** Model of the search page, from the query and the cookie of a request. */
final class SearchPage implements TemplateHandler.Model {
  static final String TEMPLATE = "search.vm";
  private static final int PAGE_SIZE = 60;
  private static final int CART_MAX = 50;

  private final Catalog catalog;
  private final Escape escape = new Escape();

  SearchPage(Catalog catalog) {
    this.catalog = catalog;
  }

  @Override
  public VelocityContext of(HttpExchange exchange) throws IOException {
    Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
    List<Integer> cart = cart(exchange.getRequestHeaders().getFirst("Cookie"));
    String add = query.remove("add");
    if (add != null) {
      Product product = catalog.find(number(add, 0));
      if (product != null && cart.size() < CART_MAX) {
        cart.add(product.id());
      }
      exchange.getResponseHeaders().set("Set-Cookie", "cart=" + cart.stream().map(String::valueOf)
          .collect(Collectors.joining("."))
          + "; Path=/; SameSite=Lax; HttpOnly");
      exchange.getResponseHeaders().set("Location", exchange.getRequestURI().getPath() + "?" + query.entrySet().stream()
          .map(e -> escape.url(e.getKey()) + "=" + escape.url(e.getValue())).collect(Collectors.joining("&")));
      exchange.sendResponseHeaders(303, -1);
      return null;
    }
    return model(query, cart);
  }

  VelocityContext model(Map<String, String> query, List<Integer> cart) {
    String words = query.getOrDefault("q", "");
    String category = query.getOrDefault("category", "");
    List<Product> all = catalog.search(words, "");
    List<Product> found = category.isEmpty() ? all : catalog.search(words, category);
    int pages = Math.max(1, (found.size() + PAGE_SIZE - 1) / PAGE_SIZE);
    int page = Math.max(1, Math.min(pages, number(query.get("page"), 1)));

    Map<String, Object> model = new HashMap<>();
    model.put("esc", escape);
    model.put("words", words);
    model.put("category", category);
    model.put("facets", Catalog.byCategory(all));
    model.put("total", found.size());
    model.put("page", page);
    model.put("pages", pages);
    model.put("products", found.subList((page - 1) * PAGE_SIZE, Math.min(page * PAGE_SIZE, found.size())));
    List<Product> items = cart.stream().map(catalog::find).toList();
    model.put("cart", items);
    model.put("sum", Product.yuan(items.stream().mapToInt(Product::price).sum()));
    return new VelocityContext(model);
  }

  private static int number(String text, int otherwise) {
    return text != null && text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : otherwise;
  }

  private static Map<String, String> query(String raw) {
    Map<String, String> query = new HashMap<>();
    for (String pair : raw == null ? new String[0] : raw.split("&")) {
      String[] parts = pair.split("=", 2);
      try {
        query.put(URLDecoder.decode(parts[0], StandardCharsets.UTF_8), parts.length == 1 ? ""
            : URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        // an invalid escape such as %zz counts as absent
      }
    }
    return query;
  }

  private List<Integer> cart(String cookies) {
    List<Integer> cart = new ArrayList<>();
    for (String cookie : cookies == null ? new String[0] : cookies.split("; *")) {
      for (String id : cookie.startsWith("cart=") ? cookie.substring(5).split("\\.") : new String[0]) {
        if (cart.size() < CART_MAX && catalog.find(number(id, 0)) != null) {
          cart.add(number(id, 0));
        }
      }
    }
    return cart;
  }
}
