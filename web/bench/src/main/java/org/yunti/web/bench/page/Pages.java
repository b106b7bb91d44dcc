package org.yunti.web.bench.page;

import java.util.List;
import java.util.Map;
import org.yunti.web.bench.model.Goods;
import org.yunti.web.bench.model.Stocks;

/** Measured pages, by name. */
public final class Pages {
  public static final String STOCKS = "stocks";
  public static final String SEARCH = "search";
  public static final String REFERENCES = "references";
  /** Pages with a template for every engine; the others are for Velocity only. */
  public static final List<String> EVERY_ENGINE = List.of(STOCKS, SEARCH);
  public static final List<String> ALL = List.of(STOCKS, SEARCH, REFERENCES, "site", "report", "mail");

  private Pages() {}

  /** Returns a page with a new model. */
  public static Page of(String name) {
    return switch (name) {
      case STOCKS -> Page.of("stocks.vm", "/velocity/stocks.vm", Map.of("items", Stocks.all()));
      case SEARCH -> Page.of("search.vm", "/velocity/search.vm", Map.of("page", Goods.searchPage()));
      case REFERENCES -> Page.of("references.vm", "/velocity/references.vm", ReferencesModel.create());
      case "site" ->
          new Page("site.vm", Map.of("site.vm", "/META-INF/maven/site.vm", "site-macros.vm",
          "/META-INF/maven/site-macros.vm"), SiteModels.create());
      case "report" -> Page.of("package-summary.vm", "/templates/jdk8/package-summary.vm", ReportModel.create());
      case "mail" -> Page.of("announcement.vm", "/org/apache/maven/plugins/changes/announcement/announcement.vm",
          MailModel.create());
      default -> throw new IllegalArgumentException("no such page: " + name);
    };
  }
}
