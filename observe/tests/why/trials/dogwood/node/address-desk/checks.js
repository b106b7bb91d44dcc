'use strict';
const common = {
  name: /^[\p{L}.' -]{2,60}$/u,
  postcode: /^[A-Z]{0,2}-?\d{4,5}$/,
  town: /^[\p{L}. -]{2,40}$/u,
};

// A street: words, then the number of the house, perhaps with a letter.
const street = {
  a: /^(?:[A-Za-z.]+\s?)+\d+[a-z]?$/,
  b: /^[A-Za-z.]+(?:\s[A-Za-z.]+)*\s?\d+[a-z]?$/,
};

exports.checks = (plan) => ({ ...common, street: street[plan] });
