package org.yunti.web.example;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Catalogue of the shop: generated products, the same in each run. */
final class Catalog {
  private static final String[][] KINDS = {
      {"龙井茶", "Longjing tea", "绿茶 Green tea", "杭州"}, {"碧螺春", "Biluochun tea", "绿茶 Green tea", "苏州"},
      {"铁观音", "Tieguanyin oolong", "乌龙 Oolong", "安溪"}, {"大红袍", "Da Hong Pao", "乌龙 Oolong", "武夷山"},
      {"普洱茶饼", "Pu'er cake", "黑茶 Dark tea", "云南"}, {"六堡茶", "Liubao tea", "黑茶 Dark tea", "梧州"},
      {"祁门红茶", "Keemun", "红茶 Black tea", "祁门"}, {"正山小种", "Lapsang souchong", "红茶 Black tea", "武夷山"},
      {"白毫银针", "Silver needle", "白茶 White tea", "福鼎"}, {"寿眉", "Shou mei", "白茶 White tea", "福鼎"},
      {"紫砂壶", "Zisha teapot", "茶具 Tea ware", "宜兴"}, {"青瓷盖碗", "Celadon gaiwan", "茶具 Tea ware", "龙泉"},
      {"竹茶盘", "Bamboo tray", "茶具 Tea ware", "安吉"}, {"建盏", "Jian bowl", "茶具 Tea ware", "建阳"}};
  private static final String[] GRADES = {"特级", "一级", "明前", "雨前", "陈年", "手工", "古树", "礼盒装", "有机", "经典"};
  private static final String[] SENTENCES = {"香气清高持久,滋味鲜爽甘醇。", "采自海拔八百米以上的茶园,全程手工炒制。", "汤色清澈明亮,回甘悠长,适合日常饮用。",
      "Picked by hand before the spring rains & dried the same day.", "密封包装,送礼自用皆宜。",
      "Best with water of 80 °C; three infusions or more.", "传承三代的制作工艺,每一件都独一无二。", "“好茶不怕细品”,老茶客的选择。"};
  private static final String[] TAGS = {"包邮", "新品", "热卖", "<7天无理由", "产地直发", "Gift", "会员价"};

  private final List<Product> products = new ArrayList<>();

  Catalog(int size) {
    Random random = new Random(6);
    for (int id = 1; id <= size; id++) {
      String[] kind = KINDS[random.nextInt(KINDS.length)];
      int price = 1_900 + 100 * random.nextInt(900);
      List<String> tags = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 3; i++) {
        text.append(SENTENCES[random.nextInt(SENTENCES.length)]).append(' ');
        String tag = TAGS[random.nextInt(TAGS.length)];
        if (!tags.contains(tag)) {
          tags.add(tag);
        }
      }
      products.add(new Product(id, GRADES[random.nextInt(GRADES.length)] + kind[0] + " " + (50 + 50 * random.nextInt(9))
          + "克", kind[1], kind[2],
          kind[3], price, random.nextInt(3) == 0 ? price + 2_000 : price, (30 + random.nextInt(21)) / 10.0,
          random.nextInt(20_000), text.toString().strip(), List.copyOf(tags)));
    }
  }

  Product find(int id) {
    return id >= 1 && id <= products.size() ? products.get(id - 1) : null;
  }

  /**
   * Searches the products.
   *
   * @param category and {@code words}: "" matches all
   */
  List<Product> search(String words, String category) {
    String lower = words.toLowerCase(Locale.ROOT).strip();
    return products.stream().filter(p -> category.isEmpty() || p.category().equals(category))
        .filter(p -> lower.isEmpty() || (p.name() + p.latin() + p.origin() + p.text()).toLowerCase(Locale.ROOT)
        .contains(lower)).toList();
  }

  /** Returns the number of products of each category. */
  static Map<String, Integer> byCategory(List<Product> products) {
    Map<String, Integer> counts = new TreeMap<>();
    products.forEach(p -> counts.merge(p.category(), 1, Integer::sum));
    return counts;
  }
}
