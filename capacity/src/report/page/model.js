"use strict";
// Capacity of a changed service, in four steps: times of a request after the changes; mean value analysis of one
// class with stations of many servers (Seidmann); scaled to the simulated curve, so that it is that curve while
// nothing is changed; the least number of requests in process with 95 % of its peak.

const CLIENTS_MAX = 4096;

/** Returns the time, the stations and the limit of workers that `values`, by the id of a slider, give. */
function changedService(data, values) {
  const items = data.items.map((item) => ({ ...item }));
  const added = items.map(() => 0), floor = items.map(() => 1);
  let requestAdded = 0, requestFloor = 1, processors = data.processors.count, memory = 1, young = 1;
  let workers = data.workers;
  for (const slider of data.sliders) {
    const value = values[slider.id] ?? slider.values[slider.now];
    if (slider.kind === "time") {
      slider.items.forEach((ms, at) => {
        added[at] += (value - 1) * ms;
        if (ms > 0) floor[at] *= Math.min(1, value);
      });
      requestAdded += (value - 1) * slider.request;
      requestFloor = Math.min(requestFloor, value);
    } else if (slider.kind === "units") items[slider.item].units = value;
    else if (slider.kind === "processors") processors = value;
    else if (slider.kind === "memory") memory = value;
    else if (slider.kind === "young") young = value / slider.values[slider.now];
    else if (slider.kind === "workers") workers = value;
  }
  // One change inside another counts once: the product of both is the least that remains.
  items.forEach((item, at) => { item.ms = Math.max(item.ms + added[at], item.ms * floor[at]); });
  const collections = items.find((item) => item.place === "collections");
  const available = Math.max(processors - data.processors.taken, Math.min(0.1, processors));
  const before = data.processors.count - data.processors.taken;
  const cpu = items.find((item) => item.place === "processors");
  const pause = collections ? collections.ms : 0, pauseAfter = pause * memory / young;
  const pauseBefore = collections ? data.items.find((item) => item.place === "collections").ms : 0;
  // No request shrinks by more than its parts.
  const ms = Math.max(data.ms + requestAdded - pause, (data.ms - pauseBefore) * requestFloor) + pauseAfter;
  if (cpu) {
    // A collection that stops the process takes all processors.
    cpu.ms = Math.max(0, cpu.ms - before * pause) + available * pauseAfter;
    cpu.units = available;
  }
  const stations = items
    .filter((item) => item.place !== "collections" && item.place !== "workers" && item.units && item.ms > 0)
    .map((item) => ({ name: item.name, ms: item.ms / item.units }));
  return { ms, stations, workers };
}

/** Returns the requests a second with 1, 2, .. requests in process. */
function meanValueAnalysis(service, count) {
  const sum = service.stations.reduce((sum, station) => sum + station.ms, 0);
  const delay = Math.max(0, service.ms - sum);
  const queues = service.stations.map(() => 0), rates = [];
  for (let clients = 1; clients <= count; clients++) {
    const times = service.stations.map((station, at) => station.ms * (1 + queues[at]));
    const rate = clients / Math.max(1e-9, delay + times.reduce((sum, ms) => sum + ms, 0));
    times.forEach((ms, at) => { queues[at] = ms * rate; });
    rates.push(rate * 1000);
  }
  return rates;
}

/** Returns the value between two neighbours of a list that begins with 1 request in process. */
function between(rates, clients) {
  if (clients <= 1) return rates[0] * Math.max(0, clients);
  const low = Math.min(Math.floor(clients), rates.length), high = Math.min(low + 1, rates.length);
  return rates[low - 1] + (rates[high - 1] - rates[low - 1]) * (clients - low);
}

function bottleneckOf(service) {
  return service.stations.reduce((worst, station) => (!worst || station.ms > worst.ms ? station : worst), null);
}

/** Returns the requests in process from which on the bottleneck is full. */
function corner(service) {
  const worst = bottleneckOf(service);
  return worst ? service.ms / worst.ms : CLIENTS_MAX;
}

function bound(service, clients) {
  const worst = bottleneckOf(service);
  return Math.min(clients / service.ms, worst ? 1 / worst.ms : Infinity) * 1000;
}

/** Returns the curve, the peak and the rest with the sliders at these values. */
function evaluate(data, values) {
  if (!data.base) {
    data.base = { service: changedService(data, {}) };
    const last = data.points[data.points.length - 1][0];
    data.base.rates = meanValueAnalysis(data.base.service, last);
    data.base.found = find(data, data.base.service);
  }
  const service = changedService(data, values);
  const found = find(data, service), base = data.base.found;
  const limit = service.workers ?? CLIENTS_MAX, limitBefore = data.base.service.workers ?? CLIENTS_MAX;
  const peak = data.peak * found.peak / base.peak;
  const peakNow = data.peakNow * most(found.curve, limit) / most(base.curve, limitBefore);
  const station = bottleneckOf(service);
  const isLimited = service.workers && peakNow < 0.95 * peak;
  const isAsBefore = station && station.name === bottleneckOf(data.base.service)?.name;
  const name = isAsBefore && data.bottleneck ? data.bottleneck.name : station?.name ?? "none";
  const clients = reaches(found.curve, data.present), clientsBefore = reaches(base.curve, data.present);
  const saturated = clients === null || clients > limit || data.present > peakNow;
  const response = data.response && clientsBefore && !saturated ? data.response * clients / clientsBefore : null;
  return {
    peak, peakNow, response, saturated, curve: found.curve,
    threads: Math.max(1, Math.round(data.threads * found.threads / base.threads)),
    bottleneck: isLimited ? "threads that serve requests" : name,
  };
}

/** Returns the scaled curve of a service, its peak, and the requests in process with 95 % of it. */
function find(data, service) {
  const last = data.points[data.points.length - 1][0];
  // Corrections move with the corner of the curve, at which queues begin.
  const stretch = corner(service) / corner(data.base.service);
  const count = Math.min(CLIENTS_MAX, Math.max(last, Math.ceil(last * Math.min(stretch, 1e3))));
  const rates = meanValueAnalysis(service, count);
  const simulated = (clients) => {
    const at = data.points.findIndex((point) => point[0] >= clients);
    if (at < 0) return data.points[data.points.length - 1][1];
    const [n, rate] = data.points[at], [m, before] = at > 0 ? data.points[at - 1] : [0, 0];
    return before + (rate - before) * (clients - m) / (n - m);
  };
  const scaled = (clients) => {
    const same = Math.min(last, Math.max(1, clients / stretch));
    const correction = simulated(same) / between(data.base.rates, same);
    const over = Math.max(1, simulated(same) / bound(data.base.service, same));
    return Math.min(between(rates, clients) * correction, bound(service, clients) * over);
  };
  const places = new Set([1]);
  for (const [clients] of data.points) {
    places.add(clients);
    places.add(Math.min(count, Math.max(1, Math.round(clients * stretch))));
  }
  const curve = [...places].filter((n) => n <= count).sort((a, b) => a - b).map((n) => [n, scaled(n)]);
  const peak = most(curve, Infinity);
  return { curve, peak, threads: reaches(curve, 0.95 * peak) ?? 1 };
}

/** Returns the most requests a second with at most this many in process. */
function most(curve, limit) {
  let best = 0, before = [0, 0];
  for (const [clients, rate] of curve) {
    if (clients > limit) {
      return Math.max(best, before[1] + (rate - before[1]) * (limit - before[0]) / (clients - before[0]));
    }
    best = Math.max(best, rate);
    before = [clients, rate];
  }
  return best;
}

/** Returns the least number of requests in process at which a curve reaches a rate, or null. */
function reaches(curve, wanted) {
  let before = [0, 0];
  for (const [clients, rate] of curve) {
    if (rate >= wanted) {
      return before[0] + (clients - before[0]) * (wanted - before[1]) / Math.max(1e-12, rate - before[1]);
    }
    before = [clients, rate];
  }
  return null;
}
