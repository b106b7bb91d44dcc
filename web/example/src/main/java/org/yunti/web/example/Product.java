package org.yunti.web.example;

import java.util.List;

/** Product of the shop. Prices are in fen, 1/100 yuan. */
public record Product(int id, String name, String latin, String category, String origin, int price, int was,
    double stars, int reviews, String text, List<String> tags) {

  // Velocity 2.4 finds getters, not the accessors of records.
  public int getId() {
    return id;
  }

  public String getName() {
    return name;
  }

  public String getLatin() {
    return latin;
  }

  public String getCategory() {
    return category;
  }

  public String getOrigin() {
    return origin;
  }

  public String getPrice() {
    return yuan(price);
  }

  public String getWas() {
    return yuan(was);
  }

  public boolean isReduced() {
    return was > price;
  }

  public double getStars() {
    return stars;
  }

  public int getReviews() {
    return reviews;
  }

  public String getText() {
    return text;
  }

  public List<String> getTags() {
    return tags;
  }

  static String yuan(int fen) {
    return fen / 100 + (fen % 100 < 10 ? ".0" : ".") + fen % 100;
  }
}
