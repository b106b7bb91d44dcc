
// Sliders and results of the page. Names reach the page as text only, never as markup.
if (typeof document !== "undefined") {
  const data = JSON.parse(document.getElementById("data").textContent);
  const element = (id) => document.getElementById(id);
  const three = (value) => {
    const digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
    return String(Number(value.toFixed(digits)));
  };
  const percent = (share) => `${share >= 0 ? "+" : ""}${(share * 100).toFixed(0)} %`;
  const bytes = (value) => (value >= 2 ** 30 ? `${three(value / 2 ** 30)} GiB` : `${three(value / 2 ** 20)} MiB`);
  const valueOf = (slider) => slider.values[Number(element(slider.id).value)];
  const isChanged = (slider) => Number(element(slider.id).value) !== slider.now;

  /** Returns the value of a slider in words. */
  const words = (slider) => {
    const value = valueOf(slider), now = slider.values[slider.now];
    switch (slider.kind) {
      case "time": {
        const ms = data.items[slider.item].ms;
        return isChanged(slider) ? `${three(ms * value)} ms (x${value})` : `${three(ms)} ms`;
      }
      case "memory": return isChanged(slider) ? `x${value}` : "as it is";
      case "young": return isChanged(slider) ? `${bytes(value)} (now ${bytes(now)})` : bytes(value);
      default: return isChanged(slider) ? `${three(value)} (now ${three(now)})` : three(value);
    }
  };

  /** Returns the change for `yunti capacity what-if`. */
  const change = (slider) => {
    const value = valueOf(slider);
    // A processor that needs half the time is twice as fast.
    if (slider.word === "cpu x") return `cpu x${three(1 / value)}`;
    if (slider.kind === "time" || slider.kind === "memory") return `${slider.word} x${value}`;
    if (slider.kind === "young") return `${slider.word} ${Math.round(value / 2 ** 20)}m`;
    return `${slider.word} ${value}`;
  };

  const svg = (name, attributes, parent) => {
    const made = document.createElementNS("http" + "://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return parent.appendChild(made);
  };
  const html = (name, className, text, parent) => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return parent.appendChild(made);
  };

  /** Draws both curves, in the same way as the charts above. */
  const draw = (curve) => {
    const chart = element("if-chart"), figure = document.createElement("figure");
    figure.className = "chart";
    const full = reaches(curve, 0.95 * most(curve, Infinity)) ?? 1;
    const end = Math.max(data.end, Math.min(2 * full, curve.at(-1)[0]));
    // The end of the axis lies between two points.
    const within = (points) => {
      const inside = points.filter(([clients]) => clients <= end), beyond = points[inside.length], last = inside.at(-1);
      if (!beyond) return [[0, 0], ...inside];
      const share = (end - last[0]) / (beyond[0] - last[0]);
      return [[0, 0], ...inside, [end, last[1] + share * (beyond[1] - last[1])]];
    };
    const now = within(data.points), then = within(curve);
    const top = Math.max(...now.map((p) => p[1]), ...then.map((p) => p[1])) * 1.05;
    const x = (clients) => (clients / end) ** data.power, y = (rate) => rate / top;
    const rough = top / 5, ten = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * ten).find((step) => step >= rough);
    html("p", "name", "requests a second", figure);
    const ys = html("div", "ys", "", figure);
    const drawing = svg("svg", { viewBox: "0 0 1000 400", preserveAspectRatio: "none", role: "img",
      "aria-label": "requests a second by requests in process, as it is and changed" }, figure);
    for (let rate = 0; rate <= top; rate += step) {
      const label = rate >= 10000 ? `${rate / 1000}k` : String(Number(rate.toFixed(4)));
      html("span", "", label, ys).style.top = `${(1 - y(rate)) * 100}%`;
      svg("path", { class: "grid", d: `M0 ${(1 - y(rate)) * 400}H1000` }, drawing);
    }
    const place = ([n, rate]) => `${(x(n) * 1000).toFixed(1)} ${((1 - y(rate)) * 400).toFixed(1)}`;
    // A straight line bends where the axis does.
    const parts = data.power === 1 ? [1] : [1, 2, 3, 4, 5, 6, 7, 8].map((part) => part / 8);
    const bent = (points) => points.flatMap(([n, rate], at) => {
      const [m, before] = points[Math.max(0, at - 1)];
      return parts.map((share) => [m + (n - m) * share, before + (rate - before) * share]);
    });
    const path = (points) => `M${bent(points).map(place).join("L")}`;
    svg("path", { class: "simulated", d: path(now) }, drawing);
    svg("path", { class: "changed", d: path(then) }, drawing);
    const xs = html("div", "xs", "", figure);
    let last = -1;
    for (const clients of [0, ...[1, 10, 100, 1000].flatMap((n) => [n, 2 * n, 5 * n])]) {
      if (clients > end || x(clients) - last < 0.09) continue;
      last = x(clients);
      html("span", last > 0.97 ? "tick end" : "tick", String(clients), xs).style.left = `${last * 100}%`;
    }
    for (const hidden of [ys, xs]) hidden.setAttribute("aria-hidden", "true");
    html("p", "name end", "requests in process", figure);
    chart.replaceChildren(figure);
  };

  const show = () => {
    const values = {};
    for (const slider of data.sliders) {
      const input = element(slider.id), text = words(slider);
      values[slider.id] = valueOf(slider);
      element(`${slider.id}-value`).textContent = text;
      input.setAttribute("aria-valuetext", text);
      input.parentElement.classList.toggle("changed", isChanged(slider));
    }
    const before = evaluate(data, {}), after = evaluate(data, values);
    const set = (id, value, more) => {
      element(id).textContent = value;
      element(`${id}-now`).textContent = more;
    };
    const ms = (value) => (value === null ? "-" : `${three(value)} ms`);
    const gain = percent(after.peakNow / before.peakNow - 1);
    set("if-peak", three(after.peakNow), `now ${three(before.peakNow)}, ${gain}`);
    set("if-threads", String(after.threads), `now ${before.threads}`);
    set("if-bottleneck", after.bottleneck, `now ${before.bottleneck}`);
    const response = after.saturated && data.present > 0 ? "more arrives than it carries" : ms(after.response);
    set("if-response", response, `now ${ms(before.response)}`);
    draw(after.curve);
    return data.sliders.filter(isChanged);
  };

  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  /** Shows the command that simulates the same, and keeps the changes in the address. */
  const settle = () => {
    const changed = show(), status = element("if-command");
    status.textContent = changed.length ? "To simulate it: " : "";
    const target = data.pid ? `-p ${data.pid}` : "-p PID";
    const changes = changed.map(change).map(quoted).join(" ");
    if (changed.length) html("code", "", `yunti capacity what-if ${target} ${changes}`, status);
    const fragment = changed.map((slider) => `${slider.id}=${valueOf(slider)}`).join("&");
    // The page may be shown where its address cannot change.
    try { history.replaceState(null, "", `#${fragment}`); } catch { /* The sliders work without it. */ }
  };

  /** Sets the sliders to the changes in the address: `#cpus=4&time-3=0.5`; the nearest values. */
  const preset = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const slider of data.sliders) {
      const value = Number(wanted.get(slider.id) ?? NaN);
      const distance = (at) => Math.abs(slider.values[at] - value);
      const nearest = slider.values.reduce((best, _, at) => (distance(at) < distance(best) ? at : best), 0);
      element(slider.id).value = Number.isFinite(value) ? nearest : slider.now;
    }
  };

  for (const slider of data.sliders) {
    element(slider.id).addEventListener("input", show);
    element(slider.id).addEventListener("change", settle);
  }
  element("if-reset").addEventListener("click", () => {
    for (const slider of data.sliders) element(slider.id).value = slider.now;
    settle();
  });
  window.addEventListener("hashchange", () => { preset(); show(); });
  preset();
  settle();
}
