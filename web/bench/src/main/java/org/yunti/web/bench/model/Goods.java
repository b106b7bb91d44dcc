package org.yunti.web.bench.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Model of a search page with 60 items, the same on every machine. */
public final class Goods {
  private static final int ITEMS = 60;
  private static final int DESCRIPTION_CHARS = 194;
  private static final String[] BRANDS = {"山海", "云帆", "晨曦", "青禾", "远航", "星野", "暖阳", "知行", "万象", "格物", "Nordlys", "听涛"};
  private static final String[] QUALITIES = {
      "轻便防泼水", "大容量", "加厚耐磨", "复古百搭", "商务通勤", "户外旅行", "学生专用", "可折叠", "多功能分层", "减负护脊"};
  private static final String[] KINDS = {"双肩背包", "电脑背包", "登山背包", "旅行背包", "书包", "摄影背包", "骑行背包", "妈咪背包"};
  private static final String[] PHRASES = {
      "采用高密度尼龙面料，经久耐用，不易变形", "内设独立电脑隔层，可放入十五点六英寸笔记本",
      "透气蜂窝背板，久背不闷热", "加宽肩带有效分散压力，长时间出行也轻松",
      "侧袋可放雨伞与水杯，取用方便", "拉链顺滑，经过五千次开合测试", "底部加厚耐磨处理，放置在地面也不怕脏",
      "外置充电接口，随时为手机补充电量", "反光条设计，夜间出行更加安全",
      "容量约为三十升，满足三到五天的短途旅行",
      "面料通过国家级检测机构的环保认证", "附赠防雨罩一个，下雨天也能安心出门"};
  private static final String[] TAGS = {
      "新品上市", "当日发货", "官方旗舰", "退货包运费", "满减优惠", "百亿补贴", "假一赔十", "以旧换新", "分期免息", "会员专享"};
  private static final String[] PLACES = {"浙江杭州", "广东广州", "福建泉州", "河北保定", "上海", "江苏苏州", "四川成都", "北京"};
  private static final String[] FACETS = {"品牌", "价格区间", "材质", "适用人群", "容量", "颜色"};
  private static final String[] VALUES = {
      "尼龙", "牛津布", "帆布", "真皮", "二十升以下", "二十到三十升", "三十升以上", "黑色", "藏青色", "军绿色", "男士", "女士", "儿童",
      "百元以下", "三百元以上"};
  private static final String[] CATEGORIES = {
      "手机数码", "家用电器", "男装女装", "鞋靴箱包", "运动户外", "美妆护肤", "母婴玩具", "食品生鲜", "图书文具", "家居家装", "汽车用品",
      "医药保健"};

  private Goods() {}

  public static SearchPage searchPage() {
    Random random = new Random(117);
    List<Category> categories = new ArrayList<>();
    for (String name : CATEGORIES) {
      categories.add(new Category(100 + categories.size(), name));
    }
    List<Item> items = new ArrayList<>();
    while (items.size() < ITEMS) {
      items.add(item(random, items.size()));
    }
    List<PageLink> links = new ArrayList<>();
    for (int i = 1; i <= 10; i++) {
      links.add(new PageLink(i, i == 2));
    }
    List<String> related = new ArrayList<>();
    for (String kind : KINDS) {
      related.add(kind + pick(random, QUALITIES));
    }
    return new SearchPage("双肩背包", "爱旅行的小张", 3, 18264, 2, 305, categories, facets(random), items, links, related);
  }

  private static List<Facet> facets(Random random) {
    List<Facet> facets = new ArrayList<>();
    for (String name : FACETS) {
      List<FacetValue> values = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        values.add(new FacetValue(1000 + facets.size() * 10 + i, pick(random, VALUES), 1 + random.nextInt(2000),
            i == 3));
      }
      facets.add(new Facet(name, values));
    }
    return facets;
  }

  private static Item item(Random random, int index) {
    String brand = pick(random, BRANDS);
    String title = brand + pick(random, QUALITIES) + pick(random, KINDS) + "（" + pick(random, QUALITIES) + "）"
        + (2020 + index % 7) + "款";
    StringBuilder description = new StringBuilder();
    while (description.length() < DESCRIPTION_CHARS) {
      description.append(description.length() == 0 ? "" : "，").append(pick(random, PHRASES));
    }
    description.append("。");
    List<String> tags = new ArrayList<>();
    for (int i = 0; i < 3 + index % 3; i++) {
      tags.add(pick(random, TAGS));
    }
    int price = 3900 + random.nextInt(60000);
    String picture = "/pictures/" + (100000 + random.nextInt(900000)) + ".webp";
    return new Item(100_200_300_000L + index * 7919L, title, description.toString(), picture, money(price),
        money(price + 2000 + random.nextInt(9000)), index % 3 != 0, tags, 5000 + random.nextInt(4000), brand + "官方旗舰店",
        pick(random, PLACES), random.nextInt(90000), 90 + random.nextInt(10), random.nextInt(20000), index % 4 != 0);
  }

  private static String money(int cents) {
    return cents / 100 + "." + cents / 10 % 10 + cents % 10;
  }

  private static String pick(Random random, String[] from) {
    return from[random.nextInt(from.length)];
  }
}
