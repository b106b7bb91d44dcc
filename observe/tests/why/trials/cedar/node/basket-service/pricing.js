'use strict';

const catalogue = { campaign: 'spring', items: {} };
for (let i = 0; i < 4000; i++) {
  catalogue.items[`sku-${i}`] = {
    name: `article number ${i}`,
    cents: 199 + i * 7 % 9000,
    tiers: [{ from: 2, off: 0.02 }, { from: 10, off: 0.05 }],
    tags: ['web', i % 2 ? 'food' : 'home', `shelf${i % 90}`],
  };
}

function working(shared) {
  if (shared) return { campaign: catalogue.campaign, items: Object.create(catalogue.items) };
  return JSON.parse(JSON.stringify(catalogue));
}

function price(basket, shared) {
  const c = working(shared);
  let total = 0;
  const lines = basket.lines.map(({ sku, pieces }) => {
    const item = c.items[sku];
    const tier = item.tiers.filter((t) => t.from <= pieces).pop();
    const cents = Math.round(item.cents * pieces * (1 - (tier ? tier.off : 0)));
    c.items[sku] = { ...item, reserved: pieces };
    total += cents;
    return { sku, name: item.name, pieces, cents };
  });
  return { basket: basket.id, campaign: c.campaign, lines, total };
}

module.exports = { price };
