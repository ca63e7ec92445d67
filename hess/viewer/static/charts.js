// The learning curve and the diagnostics, of one run or of two in the same charts.

import {theme} from "./colours.js";
import {short} from "./timeline.js";

export class Charts {
  constructor(chosen) {
    this.chosen = chosen; // called with a step when somebody clicks on it
    this.place = document.getElementById("charts");
    this.cards = new Map(); // name -> card
    this.step = 0;
  }

  // runs: [{label, run}], the second may be missing.
  show(runs) {
    const wanted = [curveOf(runs), ...diagnosticsOf(runs)].filter((chart) => chart.series.length);
    for (const [name, card] of this.cards) {
      if (wanted.some((chart) => chart.name === name && signature(chart) === card.signature)) continue;
      card.remove();
      this.cards.delete(name);
    }
    for (const chart of wanted) {
      if (!this.cards.has(chart.name)) this.cards.set(chart.name, new Card(chart, this));
      this.cards.get(chart.name).setData(chart);
      this.place.append(this.cards.get(chart.name).element);
    }
  }

  // Mark a moment in all charts.
  mark(step) {
    this.step = step ?? 0;
    for (const card of this.cards.values()) card.plot.redraw(false);
  }

  rebuild(runs) {
    for (const card of this.cards.values()) card.remove();
    this.cards.clear();
    this.show(runs);
  }
}

function curveOf(runs) {
  const names = {success_rate: "evaluation", train_success: "training"};
  const series = runs.flatMap(({label, run}, place) =>
    run.evaluations.filter((chart) => chart.name in names).map((chart) => ({
      ...chart,
      label: runs.length > 1 ? `${label}, ${names[chart.name]}` : names[chart.name],
      place,
      dashed: chart.name === "train_success",
    })));
  const sentence = series.find((each) => each.name === "success_rate")?.sentence ?? "";
  return {name: "success", title: "success", unit: "share of episodes", sentence, series, wide: true};
}

function diagnosticsOf(runs) {
  const charts = new Map();
  runs.forEach(({label, run}, place) => {
    for (const chart of run.diagnostics) {
      if (!charts.has(chart.name)) charts.set(chart.name, {...chart, series: []});
      charts.get(chart.name).series.push({...chart, label, place});
    }
  });
  return [...charts.values()];
}

const signature = (chart) => chart.series.map((each) => `${each.label} ${each.place}`).join();

class Card {
  constructor(chart, charts) {
    this.signature = signature(chart);
    this.element = document.getElementById("chart").content.cloneNode(true).firstElementChild;
    this.element.classList.toggle("wide", Boolean(chart.wide));
    this.element.dataset.name = chart.name;
    const part = (selector) => this.element.querySelector(selector);
    part(".title").textContent = chart.title;
    part(".unit").textContent = chart.unit;
    part("p").textContent = chart.sentence;
    if (chart.wide) part(".keys").replaceChildren(...chart.series.map(keyOf));
    this.holder = part(".plot");
    this.plot = new uPlot(options(chart, charts, part(".value")), [[0]], this.holder);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
  }

  setData(chart) {
    this.plot.setData(uPlot.join(linesOf(chart).map((line) => [line.steps, line.values])));
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.holder;
    if (width > 0) this.plot.setSize({width, height});
  }

  remove() {
    this.observer.disconnect();
    this.plot.destroy();
    this.element.remove();
  }
}

function keyOf(series) {
  const key = document.createElement("span");
  key.className = `line${series.place}${series.dashed ? " dashed" : ""}`;
  key.textContent = series.label;
  return key;
}

// What is drawn: of a noisy quantity all values faintly, then their running mean.
function linesOf(chart) {
  const colours = theme();
  const inks = [colours.first, colours.second];
  const faint = chart.series.filter((each) => each.smooth)
    .map((each) => ({...each, ink: `${inks[each.place]}40`, width: 1, dash: []}));
  const clear = chart.series.map((each) => ({
    ...(each.smooth ?? each),
    ink: inks[each.place],
    width: each.dashed ? 1.2 : 1.9,
    dash: each.dashed ? [5, 4] : [],
    points: !each.dashed && each.steps.length < (chart.wide ? 120 : 20),
    read: true,
  }));
  return [...faint, ...clear];
}

function options(chart, charts, readout) {
  const colours = theme();
  const lines = linesOf(chart);
  const axis = {stroke: colours.soft, font: "11px system-ui", ticks: {size: 4, stroke: colours.line},
    grid: {stroke: colours.line, width: 1}};
  const number = (value) => Number(value.toPrecision(4));
  return {
    width: 300,
    height: chart.wide ? 200 : 130,
    legend: {show: false},
    cursor: {sync: {key: "time"}, y: false, points: {size: 6}, drag: {x: false}},
    scales: {x: {time: false}, y: chart.wide ? {range: [-0.03, 1.03]} : {}},
    axes: [
      {...axis, size: 26, values: (_, values) => values.map(short), space: 60},
      {...axis, size: 46, space: 24, values: (_, values) => values.map(number)},
    ],
    series: [{}, ...lines.map((line) => ({
      stroke: line.ink,
      width: line.width,
      dash: line.dash,
      spanGaps: true,
      points: {show: Boolean(line.points), size: 5},
    }))],
    hooks: {
      draw: [(plot) => drawMoment(plot, charts.step, colours)],
      setCursor: [(plot) => { readout.textContent = readAt(plot, lines); }],
      ready: [(plot) => plot.over.addEventListener("click", () => {
        if (plot.cursor.left >= 0) charts.chosen(plot.posToVal(plot.cursor.left, "x"));
      })],
    },
  };
}

// The values under the mouse, as text.
function readAt(plot, lines) {
  const {idx} = plot.cursor;
  if (idx === null || idx === undefined) return "";
  const values = lines.flatMap((line, i) => (line.read ? [plot.data[i + 1][idx]] : []));
  const texts = values.filter((value) => typeof value === "number").map((value) => Number(value.toPrecision(3)));
  return texts.length ? `${texts.join(", ")} at ${short(plot.data[0][idx])}` : "";
}

function drawMoment(plot, step, colours) {
  const {ctx, bbox} = plot;
  const x = plot.valToPos(step, "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colours.soft;
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5 * (window.devicePixelRatio || 1);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
