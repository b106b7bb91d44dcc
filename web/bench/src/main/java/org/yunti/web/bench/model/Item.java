package org.yunti.web.bench.model;

import java.util.List;

/** Item of a search result. The model formats prices, as shops do. */
public final class Item {
  private final long id;
  private final String title;
  private final String description;
  private final String picture;
  private final String price;
  private final String listPrice;
  private final boolean discounted;
  private final List<String> tags;
  private final int shopId;
  private final String shop;
  private final String place;
  private final int reviews;
  private final int approval;
  private final int sold;
  private final boolean freeDelivery;

  public Item(long id, String title, String description, String picture, String price, String listPrice,
      boolean discounted, List<String> tags, int shopId, String shop, String place, int reviews, int approval, int sold,
      boolean freeDelivery) {
    this.id = id;
    this.title = title;
    this.description = description;
    this.picture = picture;
    this.price = price;
    this.listPrice = listPrice;
    this.discounted = discounted;
    this.tags = tags;
    this.shopId = shopId;
    this.shop = shop;
    this.place = place;
    this.reviews = reviews;
    this.approval = approval;
    this.sold = sold;
    this.freeDelivery = freeDelivery;
  }

  public long getId() {
    return id;
  }

  public String getTitle() {
    return title;
  }

  public String getDescription() {
    return description;
  }

  public String getPicture() {
    return picture;
  }

  public String getPrice() {
    return price;
  }

  public String getListPrice() {
    return listPrice;
  }

  public boolean isDiscounted() {
    return discounted;
  }

  public List<String> getTags() {
    return tags;
  }

  public int getShopId() {
    return shopId;
  }

  public String getShop() {
    return shop;
  }

  public String getPlace() {
    return place;
  }

  public int getReviews() {
    return reviews;
  }

  public int getApproval() {
    return approval;
  }

  public int getSold() {
    return sold;
  }

  public boolean isFreeDelivery() {
    return freeDelivery;
  }
}
