package org.yunti.web.bench.engine;

import com.fizzed.rocker.RockerModel;
import com.fizzed.rocker.runtime.ArrayOfByteArraysOutput;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.Utf8ByteOutput;
import io.jstach.jstachio.output.ByteBufferEncodedOutput;
import io.jstach.jstachio.output.ByteBufferedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.yunti.web.bench.model.Goods;
import org.yunti.web.bench.model.SearchPage;
import org.yunti.web.bench.model.SearchPageRenderer;
import org.yunti.web.bench.model.Stock;
import org.yunti.web.bench.model.Stocks;
import org.yunti.web.bench.model.StocksPage;
import org.yunti.web.bench.model.StocksPageRenderer;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.bench.rocker.Search;

/**
 * Renderers of engines whose templates become classes at build time, each with the output that its documentation calls
 * the fastest for bytes.
 */
final class BuildTimeRenderers {
  private static final int PAGE_BYTES = 128 << 10;

  private BuildTimeRenderers() {}

  /** Returns a renderer of jte with static text as bytes, and the output that takes them. */
  static Renderer jte(String page) {
    TemplateEngine engine = TemplateEngine.createPrecompiled(null, ContentType.Plain, null, "org.yunti.web.bench.jte");
    engine.setBinaryStaticContent(true);
    Object model = Pages.of(page).model().values().iterator().next();
    return out -> {
      Utf8ByteOutput output = new Utf8ByteOutput();
      engine.render(page + ".jte", model, output);
      output.writeTo(out);
    };
  }

  /** Returns a renderer of JStachio's generated class, into one array that is reused. */
  static Renderer jstachio(String page) {
    // close() empties the output, which is then usable again.
    ByteBufferEncodedOutput output = new ByteBufferedOutputStream(PAGE_BYTES, StandardCharsets.UTF_8);
    if (page.equals(Pages.STOCKS)) {
      List<Stock> stocks = Stocks.all();
      StocksPageRenderer template = StocksPageRenderer.of();
      return out -> {
        template.write(new StocksPage(stocks), output);
        output.transferTo(out);
        output.close();
      };
    }
    SearchPage model = Goods.searchPage();
    SearchPageRenderer template = SearchPageRenderer.of();
    return out -> {
      template.write(model, output);
      output.transferTo(out);
      output.close();
    };
  }

  /** Returns a renderer of Rocker with arrays that are not joined. */
  static Renderer rocker(String page) {
    List<Stock> stocks = Stocks.all();
    SearchPage model = Goods.searchPage();
    Supplier<RockerModel> template = page.equals(Pages.STOCKS)
        ? () -> org.yunti.web.bench.rocker.Stocks.template(stocks)
        : () -> Search.template(model);
    return out -> {
      for (byte[] bytes : template.get().render(ArrayOfByteArraysOutput.FACTORY).getArrays()) {
        out.write(bytes, 0, bytes.length);
      }
    };
  }
}
