package org.yunti.web.bench.engine;

import java.io.IOException;
import java.util.List;
import org.yunti.web.bench.model.Stock;
import org.yunti.web.velocity.output.ByteWriter;
import org.yunti.web.velocity.output.StaticText;

/** Stocks page written by hand for speed: the lower bound for an engine with the same writer. */
final class HandStocks {
  private static final StaticText ODD = new StaticText("odd");
  private static final StaticText EVEN = new StaticText("even");
  private static final StaticText T0 = new StaticText("""
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <title>Market overview</title>
      <meta charset="UTF-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <link rel="stylesheet" href="/assets/market.css" media="screen">
      <link rel="shortcut icon" href="/assets/market.ico">
      <script defer src="/assets/market.js"></script>
      <style>
      body { color: #2b2b2b; font: 15px/1.5 "Noto Sans", sans-serif; margin: 0 }
      h1 { font-size: 24px; font-weight: 600; margin: 16px 12px }
      table { border-collapse: collapse; width: 100% }
      thead th { background: #34495e; color: #fff; padding: 6px 10px; text-align: left }
      tbody td { border-bottom: 1px solid #d5dbe0; padding: 4px 10px }
      tr.odd { background: #fff }
      tr.even { background: #f3f6f9 }
      td.down { color: #b3261e; font-weight: 600 }
      a { color: #1a5276; text-decoration: none }
      </style>
      </head>
      <body>
      <h1>Market overview</h1>
      <p class="note">Prices are those of the last trade and come with a delay of at least fifteen minutes. The \
      change is that since the close of the day before, and the ratio is the same in hundredths of it. Nothing on \
      this page is advice to buy, to sell or to keep anything. The companies do not exist: their names, symbols and \
      prices were made up for a page that shows how fast pages are made.</p>
      <table>
      <thead>
      <tr><th>#</th><th>symbol</th><th>name</th><th>price</th><th>change</th><th>ratio</th></tr>
      </thead>
      <tbody>
      """);
  private static final StaticText T1 = new StaticText("<tr class=\"");
  private static final StaticText T2 = new StaticText("""
      ">
      <td>""");
  private static final StaticText T3 = new StaticText("""
      </td>
      <td><a href="/stocks/""");
  private static final StaticText T4 = new StaticText("\">");
  private static final StaticText T5 = new StaticText("""
      </a></td>
      <td><a href=\"""");
  private static final StaticText T6 = new StaticText("\">");
  private static final StaticText T7 = new StaticText("""
      </a></td>
      <td><strong>""");
  private static final StaticText T8 = new StaticText("</strong></td>\n");
  private static final StaticText T9 = new StaticText("<td class=\"down\">");
  private static final StaticText T10 = new StaticText("""
      </td>
      <td class="down">""");
  private static final StaticText T11 = new StaticText("</td>\n");
  private static final StaticText T12 = new StaticText("<td>");
  private static final StaticText T13 = new StaticText("""
      </td>
      <td>""");
  private static final StaticText T14 = new StaticText("</td>\n");
  private static final StaticText T15 = new StaticText("</tr>\n");
  private static final StaticText T16 = new StaticText("""
      </tbody>
      </table>
      </body>
      </html>
      """);

  private HandStocks() {}

  static void write(List<Stock> items, ByteWriter out) throws IOException {
    out.write(T0);
    for (int i = 0; i < items.size(); i++) {
      Stock stock = items.get(i);
      out.write(T1);
      out.write(i % 2 == 0 ? ODD : EVEN);
      out.write(T2);
      out.writeNumber((long) i + 1);
      out.write(T3);
      out.write(stock.getSymbol());
      out.write(T4);
      out.write(stock.getSymbol());
      out.write(T5);
      out.write(stock.getUrl());
      out.write(T6);
      out.write(stock.getName());
      out.write(T7);
      out.write(Double.toString(stock.getPrice()));
      out.write(T8);
      if (stock.getChange() < 0) {
        out.write(T9);
        out.write(Double.toString(stock.getChange()));
        out.write(T10);
        out.write(Double.toString(stock.getRatio()));
        out.write(T11);
      } else {
        out.write(T12);
        out.write(Double.toString(stock.getChange()));
        out.write(T13);
        out.write(Double.toString(stock.getRatio()));
        out.write(T14);
      }
      out.write(T15);
    }
    out.write(T16);
  }
}
