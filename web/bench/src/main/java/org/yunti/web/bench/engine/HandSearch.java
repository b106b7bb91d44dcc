package org.yunti.web.bench.engine;

import java.io.IOException;
import org.yunti.web.bench.model.Category;
import org.yunti.web.bench.model.Facet;
import org.yunti.web.bench.model.FacetValue;
import org.yunti.web.bench.model.Item;
import org.yunti.web.bench.model.PageLink;
import org.yunti.web.bench.model.SearchPage;
import org.yunti.web.velocity.output.ByteWriter;
import org.yunti.web.velocity.output.StaticText;

/** Search page written by hand for speed: the lower bound for an engine with the same writer. */
final class HandSearch {
  private static final StaticText T0 = new StaticText("""
      <!DOCTYPE html>
      <html lang="zh-CN">
      <head>
      <meta charset="UTF-8">
      <title>""");
  private static final StaticText T1 = new StaticText("""
       - 商品搜索 - 云梯商城</title>
      <meta name="description" content="云梯商城为您找到与“""");
  private static final StaticText T2 = new StaticText("”相关的");
  private static final StaticText T3 = new StaticText("""
      件商品，全场正品保障，七天无理由退货，满九十九元包邮。">
      <link rel="stylesheet" href="/assets/shop.css">
      <script defer src="/assets/shop.js"></script>
      </head>
      <body>
      <header class="top">
      <p class="hello">您好，""");
  private static final StaticText T4 = new StaticText("""
      ，欢迎来到云梯商城！今天是会员日，全场商品满三百减四十，上不封顶，优惠券可与店铺活动叠加使用。</p>
      <ul class="menu"><li><a href="/orders">我的订单</a></li><li><a href="/favourites">我的收藏</a></li><li><a href="/cart">购物车（""");
  private static final StaticText T5 = new StaticText("""
      ）</a></li><li><a href="/service">客户服务</a></li><li><a href="/merchants">商家入驻</a></li></ul>
      <form action="/search" method="get"><input name="q" value=\"""");
  private static final StaticText T6 = new StaticText("""
      " placeholder="请输入商品名称、品牌或者店铺"><button>搜索商品</button></form>
      <nav>
      """);
  private static final StaticText T7 = new StaticText("<a href=\"/category/");
  private static final StaticText T8 = new StaticText("\" title=\"浏览分类：");
  private static final StaticText T9 = new StaticText("\">");
  private static final StaticText T10 = new StaticText("</a>\n");
  private static final StaticText T11 = new StaticText("""
      </nav>
      </header>
      <main>
      <p class="summary">共为您找到<b>""");
  private static final StaticText T12 = new StaticText("</b>件与“<em>");
  private static final StaticText T13 = new StaticText("</em>”相关的商品，当前显示第");
  private static final StaticText T14 = new StaticText("页，共");
  private static final StaticText T15 = new StaticText("""
      页。价格与库存以下单时的页面显示为准，图片仅供参考，请以收到的实物为准。</p>
      <aside>
      <h2>筛选条件</h2>
      """);
  private static final StaticText T16 = new StaticText("""
      <section class="facet">
      <h3>按""");
  private static final StaticText T17 = new StaticText("""
      筛选</h3>
      <ul>
      """);
  private static final StaticText T18 = new StaticText("<li class=\"selected\"><a href=\"/search?remove=");
  private static final StaticText T19 = new StaticText("\">已选：");
  private static final StaticText T20 = new StaticText("<i>共");
  private static final StaticText T21 = new StaticText("件商品</i></a></li>\n");
  private static final StaticText T22 = new StaticText("<li><a href=\"/search?add=");
  private static final StaticText T23 = new StaticText("\">");
  private static final StaticText T24 = new StaticText("<i>共");
  private static final StaticText T25 = new StaticText("件商品</i></a></li>\n");
  private static final StaticText T26 = new StaticText("""
      </ul>
      </section>
      """);
  private static final StaticText T27 = new StaticText("""
      </aside>
      <ol class="results">
      """);
  private static final StaticText T28 = new StaticText("<li class=\"item\" id=\"item-");
  private static final StaticText T29 = new StaticText("""
      ">
      <a class="picture" href="/item/""");
  private static final StaticText T30 = new StaticText("\" title=\"查看商品详情：");
  private static final StaticText T31 = new StaticText("\"><img loading=\"lazy\" src=\"");
  private static final StaticText T32 = new StaticText("\" alt=\"");
  private static final StaticText T33 = new StaticText("""
      "></a>
      <h2><a href="/item/""");
  private static final StaticText T34 = new StaticText("\">");
  private static final StaticText T35 = new StaticText("""
      </a></h2>
      <p class="description">""");
  private static final StaticText T36 = new StaticText("</p>\n");
  private static final StaticText T37 = new StaticText("<p class=\"price\">活动价<b>");
  private static final StaticText T38 = new StaticText("</b>元，日常价<del>");
  private static final StaticText T39 = new StaticText("</del>元，活动期间下单立减，数量有限，先到先得</p>\n");
  private static final StaticText T40 = new StaticText("<p class=\"price\">价格<b>");
  private static final StaticText T41 = new StaticText("</b>元，此商品不参加限时活动，可使用平台通用优惠券</p>\n");
  private static final StaticText T42 = new StaticText("<ul class=\"tags\">\n");
  private static final StaticText T43 = new StaticText("<li>");
  private static final StaticText T44 = new StaticText("</li>\n");
  private static final StaticText T45 = new StaticText("""
      </ul>
      <p class="shop">由<a href="/shop/""");
  private static final StaticText T46 = new StaticText("\">");
  private static final StaticText T47 = new StaticText("</a>从");
  private static final StaticText T48 = new StaticText("""
      发货，由平台提供售后服务与价格保护</p>
      <p class="sales">已有""");
  private static final StaticText T49 = new StaticText("人评价，好评率百分之");
  private static final StaticText T50 = new StaticText("，最近三十天内售出");
  private static final StaticText T51 = new StaticText("件</p>\n");
  private static final StaticText T52 = new StaticText("<p class=\"delivery\">免运费，预计明天送达，支持上门取件与七天无理由退货</p>\n");
  private static final StaticText T53 = new StaticText("<p class=\"delivery\">运费按地址与重量计算，满九十九元免运费，支持七天无理由退货</p>\n");
  private static final StaticText T54 = new StaticText(
      "<p class=\"actions\"><button>加入购物车</button><button>收藏商品</button><a href=\"/similar/");
  private static final StaticText T55 = new StaticText("\">查找相似的商品</a><a href=\"/report/");
  private static final StaticText T56 = new StaticText("""
      ">举报此商品信息</a></p>
      </li>
      """);
  private static final StaticText T57 = new StaticText("""
      </ol>
      <nav class="pages">
      """);
  private static final StaticText T58 = new StaticText("<b>第");
  private static final StaticText T59 = new StaticText("页</b>\n");
  private static final StaticText T60 = new StaticText("<a href=\"/search?page=");
  private static final StaticText T61 = new StaticText("\">第");
  private static final StaticText T62 = new StaticText("页</a>\n");
  private static final StaticText T63 = new StaticText("""
      </nav>
      <section class="related">
      <h2>大家还在搜索</h2>
      """);
  private static final StaticText T64 = new StaticText("<a href=\"/search?q=");
  private static final StaticText T65 = new StaticText("\">");
  private static final StaticText T66 = new StaticText("</a>\n");
  private static final StaticText T67 = new StaticText("""
      </section>
      </main>
      <footer>
      <dl><dt>购物指南</dt><dd>购物流程、会员介绍、生活旅行、常见问题、大家电配送、联系客服</dd>\
      <dt>配送方式</dt><dd>上门自提、限时送达、配送服务查询、配送费收取标准、海外配送</dd>\
      <dt>支付方式</dt><dd>货到付款、在线支付、分期付款、公司转账、礼品卡支付</dd>\
      <dt>售后服务</dt><dd>售后政策、价格保护、退款说明、返修与退换货、取消订单</dd></dl>
      <p>云梯商城是一个虚构的网站，页面上的商品、店铺、价格以及评价都由程序生成，与任何真实的商家没有关系。</p>
      </footer>
      </body>
      </html>
      """);

  private HandSearch() {}

  static void write(SearchPage page, ByteWriter out) throws IOException {
    out.write(T0);
    out.write(page.getQuery());
    out.write(T1);
    out.write(page.getQuery());
    out.write(T2);
    out.writeNumber((long) page.getTotal());
    out.write(T3);
    out.write(page.getUser());
    out.write(T4);
    out.writeNumber((long) page.getCartCount());
    out.write(T5);
    out.write(page.getQuery());
    out.write(T6);
    for (Category category : page.getCategories()) {
      out.write(T7);
      out.writeNumber((long) category.getId());
      out.write(T8);
      out.write(category.getName());
      out.write(T9);
      out.write(category.getName());
      out.write(T10);
    }
    out.write(T11);
    out.writeNumber((long) page.getTotal());
    out.write(T12);
    out.write(page.getQuery());
    out.write(T13);
    out.writeNumber((long) page.getNumber());
    out.write(T14);
    out.writeNumber((long) page.getPageCount());
    out.write(T15);
    for (Facet facet : page.getFacets()) {
      out.write(T16);
      out.write(facet.getName());
      out.write(T17);
      for (FacetValue value : facet.getValues()) {
        if (value.isSelected()) {
          out.write(T18);
          out.writeNumber((long) value.getId());
          out.write(T19);
          out.write(value.getName());
          out.write(T20);
          out.writeNumber((long) value.getCount());
          out.write(T21);
        } else {
          out.write(T22);
          out.writeNumber((long) value.getId());
          out.write(T23);
          out.write(value.getName());
          out.write(T24);
          out.writeNumber((long) value.getCount());
          out.write(T25);
        }
      }
      out.write(T26);
    }
    out.write(T27);
    for (Item item : page.getItems()) {
      item(item, out);
    }
    out.write(T57);
    for (PageLink link : page.getLinks()) {
      if (link.isCurrent()) {
        out.write(T58);
        out.writeNumber((long) link.getNumber());
        out.write(T59);
      } else {
        out.write(T60);
        out.writeNumber((long) link.getNumber());
        out.write(T61);
        out.writeNumber((long) link.getNumber());
        out.write(T62);
      }
    }
    out.write(T63);
    for (String word : page.getRelated()) {
      out.write(T64);
      out.write(word);
      out.write(T65);
      out.write(word);
      out.write(T66);
    }
    out.write(T67);
  }

  private static void item(Item item, ByteWriter out) throws IOException {
    out.write(T28);
    out.writeNumber(item.getId());
    out.write(T29);
    out.writeNumber(item.getId());
    out.write(T30);
    out.write(item.getTitle());
    out.write(T31);
    out.write(item.getPicture());
    out.write(T32);
    out.write(item.getTitle());
    out.write(T33);
    out.writeNumber(item.getId());
    out.write(T34);
    out.write(item.getTitle());
    out.write(T35);
    out.write(item.getDescription());
    out.write(T36);
    if (item.isDiscounted()) {
      out.write(T37);
      out.write(item.getPrice());
      out.write(T38);
      out.write(item.getListPrice());
      out.write(T39);
    } else {
      out.write(T40);
      out.write(item.getPrice());
      out.write(T41);
    }
    out.write(T42);
    for (String tag : item.getTags()) {
      out.write(T43);
      out.write(tag);
      out.write(T44);
    }
    out.write(T45);
    out.writeNumber((long) item.getShopId());
    out.write(T46);
    out.write(item.getShop());
    out.write(T47);
    out.write(item.getPlace());
    out.write(T48);
    out.writeNumber((long) item.getReviews());
    out.write(T49);
    out.writeNumber((long) item.getApproval());
    out.write(T50);
    out.writeNumber((long) item.getSold());
    out.write(T51);
    if (item.isFreeDelivery()) {
      out.write(T52);
    } else {
      out.write(T53);
    }
    out.write(T54);
    out.writeNumber(item.getId());
    out.write(T55);
    out.writeNumber(item.getId());
    out.write(T56);
  }
}
