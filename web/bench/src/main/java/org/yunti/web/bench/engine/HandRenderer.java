package org.yunti.web.bench.engine;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.yunti.web.bench.model.Goods;
import org.yunti.web.bench.model.SearchPage;
import org.yunti.web.bench.model.Stock;
import org.yunti.web.bench.model.Stocks;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.velocity.output.ByteWriter;

/** Renderer without an engine: Java by hand, with the writer of compiled templates. */
final class HandRenderer {
  private HandRenderer() {}

  static Renderer of(String page) {
    ByteWriter writer = ByteWriter.buffer(StandardCharsets.UTF_8);
    if (page.equals(Pages.STOCKS)) {
      List<Stock> stocks = Stocks.all();
      return out -> {
        writer.reset();
        HandStocks.write(stocks, writer);
        writer.writeTo(out);
      };
    }
    SearchPage model = Goods.searchPage();
    return out -> {
      writer.reset();
      HandSearch.write(model, writer);
      writer.writeTo(out);
    };
  }
}
