"use strict";
// Draws the chart, shows times on the reader's clock, and fetches the page anew whenever there is something new.
(() => {
  const live = () => document.getElementById("live");
  const state = document.getElementById("live-state");
  let chart = null;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (value) => {
    for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
      if (Math.abs(value) >= size) return `${+(value / size).toFixed(1)} ${letter}`;
    }
    return String(value);
  };

  function draw() {
    const place = document.querySelector(".chart");
    if (!place || !window.uPlot) return;
    const [times, before, after] = JSON.parse(place.dataset.series);
    place.replaceChildren();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line") }, ticks: { stroke: colour("--line") } };
    const series = (label, name, dash) => ({
      label, stroke: colour(name), fill: `${colour(name)}30`, width: 2, dash,
      value: (_, value) => (value === null ? "–" : value.toLocaleString()),
      points: { show: times.length < 3 },
    });
    chart = new uPlot(
      {
        width: Math.max(place.clientWidth, 200), height: 220,
        scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.05, 1)] } },
        axes: [axis, { ...axis, values: (_, ticks) => ticks.map(short), size: 60 }],
        series: [{}, series("before", "--before", [6, 4]), series("after", "--after")],
      },
      [times, before, after],
      place,
    );
  }

  function localise(root) {
    for (const time of root.querySelectorAll("time")) {
      const at = new Date(time.dateTime);
      const isToday = at.toDateString() === new Date().toDateString();
      time.title = at.toLocaleString();
      time.textContent = isToday ? at.toLocaleTimeString() : at.toLocaleString();
    }
  }

  // What a reader is doing must survive a new page: the focus, filters not yet applied, what is unfolded, where tables are scrolled to.
  const mark = (node) => node && (node.id ? `#${CSS.escape(node.id)}` : node.name ? `[name="${CSS.escape(node.name)}"]`
    : node.getAttribute?.("href") ? `a[href="${CSS.escape(node.getAttribute("href"))}"]`
    : node.getAttribute?.("aria-label") ? `[aria-label="${CSS.escape(node.getAttribute("aria-label"))}"]` : "");

  function isBusy() {
    const selection = document.getSelection();
    const inside = selection && !selection.isCollapsed && live().contains(selection.anchorNode);
    return inside || ["SELECT", "INPUT"].includes(document.activeElement?.tagName);
  }

  // Filters that were set and not yet applied.
  const isChanged = (one) => one.options ? [...one.options].some((option) => option.selected !== option.defaultSelected)
    : one.value !== one.defaultValue;
  const pending = () => [...live().querySelectorAll(".filters [name]")].filter(isChanged).map((one) => [one.name, one.value]);

  function show(text) {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("live");
    if (!fresh) return;
    const focused = live().contains(document.activeElement) ? mark(document.activeElement) : "";
    const unfolded = [...live().querySelectorAll("details[open]")].map((one) => one.id);
    const scrolled = [...live().querySelectorAll(".scroll, pre")].map((one) => [mark(one), one.scrollLeft, one.scrollTop]);
    const chosen = pending();
    live().replaceChildren(...fresh.childNodes);
    for (const [name, value] of chosen) {
      const found = live().querySelector(`.filters [name="${CSS.escape(name)}"]`);
      if (found) found.value = value;
    }
    for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
    for (const [where, left, top] of scrolled) {
      const found = where && live().querySelector(where);
      if (found) { found.scrollLeft = left; found.scrollTop = top; }
    }
    if (focused) live().querySelector(focused)?.focus({ preventScroll: true });
    localise(live());
    leaveOutEmpty();
    draw();
  }

  let isFetching = false;
  let isWanted = false;
  async function renew() {
    isWanted = true;
    if (isFetching || isBusy() || document.hidden) return;
    isFetching = true;
    isWanted = false;
    const began = performance.now();
    try {
      const response = await fetch(location.href, { headers: { "X-Requested-With": "dashboard" }, cache: "no-store" });
      if (response.status === 401) location.reload();
      else if (response.ok) show(await response.text());
    } catch { /* the stream tells when the gateway is back */ }
    // A page that takes long to make is asked for seldom.
    setTimeout(() => { isFetching = false; if (isWanted) renew(); }, Math.max(500, 4 * (performance.now() - began)));
  }

  function listen() {
    const where = live().dataset.events;
    if (!where || !window.EventSource) return;
    const source = new EventSource(where);
    const tell = (text, isOn) => {
      if (state && state.textContent !== text) { state.textContent = text; state.classList.toggle("on", isOn); }
    };
    source.onopen = () => { tell("live", true); };
    source.onerror = () => { tell("reconnecting…", false); };
    source.addEventListener("change", renew);
    addEventListener("pagehide", () => source.close());
    document.addEventListener("visibilitychange", () => { if (!document.hidden && isWanted) renew(); });
    setInterval(() => { if (isWanted) renew(); }, 2000);
  }

  // So that the URL has only the filters that are set.
  function leaveOutEmpty() {
    for (const form of document.querySelectorAll(".filters")) {
      form.onsubmit = () => { for (const one of form.elements) if (one.name && !one.value) one.disabled = true; };
    }
  }

  localise(document);
  leaveOutEmpty();
  draw();
  listen();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("resize", () => { if (chart) chart.setSize({ width: Math.max(document.querySelector(".chart").clientWidth, 200), height: 220 }); });
})();
