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
<p class="note">Prices are those of the last trade and come with a delay of at least fifteen minutes. The change is that since the close of the day before, and the ratio is the same in hundredths of it. Nothing on this page is advice to buy, to sell or to keep anything. The companies do not exist: their names, symbols and prices were made up for a page that shows how fast pages are made.</p>
<table>
<thead>
<tr><th>#</th><th>symbol</th><th>name</th><th>price</th><th>change</th><th>ratio</th></tr>
</thead>
<tbody>
<#list items as stock>
<tr class="${stock?item_parity}">
<td>${stock?counter}</td>
<td><a href="/stocks/${stock.symbol}">${stock.symbol}</a></td>
<td><a href="${stock.url}">${stock.name}</a></td>
<td><strong>${stock.price?c}</strong></td>
<#if stock.change < 0>
<td class="down">${stock.change?c}</td>
<td class="down">${stock.ratio?c}</td>
<#else>
<td>${stock.change?c}</td>
<td>${stock.ratio?c}</td>
</#if>
</tr>
</#list>
</tbody>
</table>
</body>
</html>
