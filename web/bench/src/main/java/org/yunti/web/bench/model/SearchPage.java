package org.yunti.web.bench.model;

import io.jstach.jstache.JStache;
import io.jstach.jstache.JStacheConfig;
import io.jstach.jstachio.escapers.PlainText;
import java.util.List;

/** Model of the search page, for JStachio by its annotation, for the other engines unchanged. */
@JStacheConfig(contentType = PlainText.class)
@JStache(path = "mustache/search.mustache")
public final class SearchPage {
  private final String query;
  private final String user;
  private final int cartCount;
  private final int total;
  private final int number;
  private final int pageCount;
  private final List<Category> categories;
  private final List<Facet> facets;
  private final List<Item> items;
  private final List<PageLink> links;
  private final List<String> related;

  public SearchPage(String query, String user, int cartCount, int total, int number,
      int pageCount, List<Category> categories, List<Facet> facets, List<Item> items, List<PageLink> links,
      List<String> related) {
    this.query = query;
    this.user = user;
    this.cartCount = cartCount;
    this.total = total;
    this.number = number;
    this.pageCount = pageCount;
    this.categories = categories;
    this.facets = facets;
    this.items = items;
    this.links = links;
    this.related = related;
  }

  public String getQuery() {
    return query;
  }

  public String getUser() {
    return user;
  }

  public int getCartCount() {
    return cartCount;
  }

  public int getTotal() {
    return total;
  }

  public int getNumber() {
    return number;
  }

  public int getPageCount() {
    return pageCount;
  }

  public List<Category> getCategories() {
    return categories;
  }

  public List<Facet> getFacets() {
    return facets;
  }

  public List<Item> getItems() {
    return items;
  }

  public List<PageLink> getLinks() {
    return links;
  }

  public List<String> getRelated() {
    return related;
  }
}
