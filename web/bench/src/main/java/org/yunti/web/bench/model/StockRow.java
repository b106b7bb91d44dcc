package org.yunti.web.bench.model;

/** Stock for templates without conditions of their own. Created for each page, as a handler would. */
public final class StockRow {
  private final Stock stock;
  private final int number;

  StockRow(Stock stock, int number) {
    this.stock = stock;
    this.number = number;
  }

  public String getRowClass() {
    return number % 2 == 0 ? "even" : "odd";
  }

  public boolean isNegative() {
    return stock.getChange() < 0;
  }

  public String getSymbol() {
    return stock.getSymbol();
  }

  public String getName() {
    return stock.getName();
  }

  public String getUrl() {
    return stock.getUrl();
  }

  public double getPrice() {
    return stock.getPrice();
  }

  public double getChange() {
    return stock.getChange();
  }

  public double getRatio() {
    return stock.getRatio();
  }
}
