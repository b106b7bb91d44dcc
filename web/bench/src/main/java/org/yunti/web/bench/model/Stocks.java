package org.yunti.web.bench.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Twenty stocks of fictional companies. No price is an integer, because engines format {@code 1.0} differently. */
public final class Stocks {
  private static final String[] NAMES = {
      "Aldersea Systems", "Briarwood Optics", "Calder & Finch", "Dunmore Shipping", "Eastlake Foods", "Fernhill Energy",
      "Greywater Mining", "Harrow Robotics", "Ivory Coast Cables", "Juniper Medical", "Kestrel Airways",
      "Longmeadow Paper", "Merrow Software", "Northgate Insurance", "Oakhurst Timber", "Pemberton Glass",
      "Quillfeather Press", "Redstone Semiconductors", "Saltmarsh Chemicals", "Tidewater Telecom"};

  private Stocks() {}

  public static List<Stock> all() {
    List<Stock> stocks = new ArrayList<>();
    for (int i = 0; i < NAMES.length; i++) {
      String symbol = NAMES[i].substring(0, 2).toUpperCase(Locale.ROOT) + (char) ('A' + i);
      double price = hundredths(4001 + 7919 * i % 30011);
      double change = hundredths(i * 37 % 23 * 40 - 380);
      stocks.add(new Stock(symbol, NAMES[i], "https://stocks.example/" + symbol.toLowerCase(Locale.ROOT), price, change,
          hundredths(Math.round(change / price * 10_000))));
    }
    return stocks;
  }

  /** Returns a number whose last decimal is never 0. */
  private static double hundredths(long value) {
    return (value - value % 10 + (value < 0 ? -7 : 7)) / 100.0;
  }
}
