package org.yunti.web.bench.model;

import io.jstach.jstache.JStache;
import io.jstach.jstache.JStacheConfig;
import io.jstach.jstachio.escapers.PlainText;
import java.util.ArrayList;
import java.util.List;

/** Model of the stocks page for JStachio, whose templates have no parity and no comparison. */
@JStacheConfig(contentType = PlainText.class)
@JStache(path = "mustache/stocks.mustache")
public final class StocksPage {
  private final List<StockRow> items;

  public StocksPage(List<Stock> stocks) {
    items = new ArrayList<>(stocks.size());
    for (Stock stock : stocks) {
      items.add(new StockRow(stock, items.size() + 1));
    }
  }

  public List<StockRow> getItems() {
    return items;
  }
}
