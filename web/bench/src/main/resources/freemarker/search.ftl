<!DOCTYPE html>
<html lang="zh-CN">
<head>
<meta charset="UTF-8">
<title>${page.query} - 商品搜索 - 云梯商城</title>
<meta name="description" content="云梯商城为您找到与“${page.query}”相关的${page.total?c}件商品，全场正品保障，七天无理由退货，满九十九元包邮。">
<link rel="stylesheet" href="/assets/shop.css">
<script defer src="/assets/shop.js"></script>
</head>
<body>
<header class="top">
<p class="hello">您好，${page.user}，欢迎来到云梯商城！今天是会员日，全场商品满三百减四十，上不封顶，优惠券可与店铺活动叠加使用。</p>
<ul class="menu"><li><a href="/orders">我的订单</a></li><li><a href="/favourites">我的收藏</a></li><li><a href="/cart">购物车（${page.cartCount?c}）</a></li><li><a href="/service">客户服务</a></li><li><a href="/merchants">商家入驻</a></li></ul>
<form action="/search" method="get"><input name="q" value="${page.query}" placeholder="请输入商品名称、品牌或者店铺"><button>搜索商品</button></form>
<nav>
<#list page.categories as category>
<a href="/category/${category.id?c}" title="浏览分类：${category.name}">${category.name}</a>
</#list>
</nav>
</header>
<main>
<p class="summary">共为您找到<b>${page.total?c}</b>件与“<em>${page.query}</em>”相关的商品，当前显示第${page.number?c}页，共${page.pageCount?c}页。价格与库存以下单时的页面显示为准，图片仅供参考，请以收到的实物为准。</p>
<aside>
<h2>筛选条件</h2>
<#list page.facets as facet>
<section class="facet">
<h3>按${facet.name}筛选</h3>
<ul>
<#list facet.values as value>
<#if value.selected>
<li class="selected"><a href="/search?remove=${value.id?c}">已选：${value.name}<i>共${value.count?c}件商品</i></a></li>
<#else>
<li><a href="/search?add=${value.id?c}">${value.name}<i>共${value.count?c}件商品</i></a></li>
</#if>
</#list>
</ul>
</section>
</#list>
</aside>
<ol class="results">
<#list page.items as item>
<li class="item" id="item-${item.id?c}">
<a class="picture" href="/item/${item.id?c}" title="查看商品详情：${item.title}"><img loading="lazy" src="${item.picture}" alt="${item.title}"></a>
<h2><a href="/item/${item.id?c}">${item.title}</a></h2>
<p class="description">${item.description}</p>
<#if item.discounted>
<p class="price">活动价<b>${item.price}</b>元，日常价<del>${item.listPrice}</del>元，活动期间下单立减，数量有限，先到先得</p>
<#else>
<p class="price">价格<b>${item.price}</b>元，此商品不参加限时活动，可使用平台通用优惠券</p>
</#if>
<ul class="tags">
<#list item.tags as tag>
<li>${tag}</li>
</#list>
</ul>
<p class="shop">由<a href="/shop/${item.shopId?c}">${item.shop}</a>从${item.place}发货，由平台提供售后服务与价格保护</p>
<p class="sales">已有${item.reviews?c}人评价，好评率百分之${item.approval?c}，最近三十天内售出${item.sold?c}件</p>
<#if item.freeDelivery>
<p class="delivery">免运费，预计明天送达，支持上门取件与七天无理由退货</p>
<#else>
<p class="delivery">运费按地址与重量计算，满九十九元免运费，支持七天无理由退货</p>
</#if>
<p class="actions"><button>加入购物车</button><button>收藏商品</button><a href="/similar/${item.id?c}">查找相似的商品</a><a href="/report/${item.id?c}">举报此商品信息</a></p>
</li>
</#list>
</ol>
<nav class="pages">
<#list page.links as link>
<#if link.current>
<b>第${link.number?c}页</b>
<#else>
<a href="/search?page=${link.number?c}">第${link.number?c}页</a>
</#if>
</#list>
</nav>
<section class="related">
<h2>大家还在搜索</h2>
<#list page.related as word>
<a href="/search?q=${word}">${word}</a>
</#list>
</section>
</main>
<footer>
<dl><dt>购物指南</dt><dd>购物流程、会员介绍、生活旅行、常见问题、大家电配送、联系客服</dd><dt>配送方式</dt><dd>上门自提、限时送达、配送服务查询、配送费收取标准、海外配送</dd><dt>支付方式</dt><dd>货到付款、在线支付、分期付款、公司转账、礼品卡支付</dd><dt>售后服务</dt><dd>售后政策、价格保护、退款说明、返修与退换货、取消订单</dd></dl>
<p>云梯商城是一个虚构的网站，页面上的商品、店铺、价格以及评价都由程序生成，与任何真实的商家没有关系。</p>
</footer>
</body>
</html>
