package org.yunti.web.bench.model;

/** Row of the stocks page. */
public final class Stock {
  private final String symbol;
  private final String name;
  private final String url;
  private final double price;
  private final double change;
  private final double ratio;

  public Stock(String symbol, String name, String url, double price, double change, double ratio) {
    this.symbol = symbol;
    this.name = name;
    this.url = url;
    this.price = price;
    this.change = change;
    this.ratio = ratio;
  }

  public String getSymbol() {
    return symbol;
  }

  public String getName() {
    return name;
  }

  public String getUrl() {
    return url;
  }

  public double getPrice() {
    return price;
  }

  public double getChange() {
    return change;
  }

  public double getRatio() {
    return ratio;
  }
}
