// One map on a canvas: the plane of the task, or φ-space. Both draw the same marks.

import {along, measure} from "./colours.js";
import {densityPicture} from "./density.js";
import {drawAxes, drawPlan, shape} from "./shapes.js";

const NEAR = 14; // pixels within which a mark is pointed at
const RIM = 0.03; // of the outer walls that is shown, as a share of the map
const PADDING = {left: 40, right: 10, top: 10, bottom: 30};

export class Map2D {
  // `kind` is "plane" or "space": the name of the coordinates that this map shows.
  constructor(canvas, kind) {
    this.canvas = canvas;
    this.kind = kind;
    this.picture = null; // density, kept until the snapshot or the theme changes
  }

  // Take over what to show; drawing happens in `draw`.
  show(snapshot, plan, marks) {
    this.snapshot = snapshot;
    this.plan = this.kind === "plane" ? plan : null;
    this.marks = marks;
    this.box = this.plan ? widened(this.plan.bounds, RIM) : around(marks.map((mark) => mark[this.kind]));
    this.labels = this.kind === "space" ? snapshot.labels
      : (plan?.axes ?? ["x", "y"]).map((name) => (plan ? `${name} (m)` : name));
    this.picture = null;
  }

  // The mark nearest to a place on the canvas, among the kinds that are visible.
  nearest(x, y, kinds) {
    let best = null;
    let least = NEAR ** 2;
    for (const mark of this.marks ?? []) {
      if (!kinds.has(mark.kind)) continue;
      const [a, b] = this.pixel(mark[this.kind]);
      const distance = (a - x) ** 2 + (b - y) ** 2;
      if (distance < least) [best, least] = [mark, distance];
    }
    return best;
  }

  pixel([x, y]) {
    const [left, low, right, high] = this.box;
    const width = this.canvas.clientWidth - PADDING.left - PADDING.right;
    const height = this.canvas.clientHeight - PADDING.top - PADDING.bottom;
    const scale = Math.min(width / (right - left), height / (high - low));
    return [
      PADDING.left + width / 2 + scale * (x - (left + right) / 2),
      PADDING.top + height / 2 - scale * (y - (low + high) / 2),
    ];
  }

  draw(layers, colours, pointed) {
    const ratio = window.devicePixelRatio || 1;
    const {canvas} = this;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    if (!this.snapshot) return;
    this.context = context;
    this.colours = colours;
    context.save();
    this.clip();
    if (layers.visits) this.drawDensity();
    if (layers.states) this.drawStates(layers.colour);
    if (layers.trajectories) this.drawTrajectories();
    if (this.plan) drawPlan(context, (point) => this.pixel(point), this.plan, colours);
    if (layers.subgoals) this.drawSubgoals();
    context.restore();
    drawAxes(context, this, colours);
    if (pointed) this.drawPointed(pointed);
  }

  clip() {
    const [left, low, right, high] = this.box;
    const [x, y] = this.pixel([left, high]);
    const [a, b] = this.pixel([right, low]);
    this.context.beginPath();
    this.context.rect(x, y, a - x, b - y);
    this.context.clip();
  }

  drawDensity() {
    this.picture ??= densityPicture(this.snapshot.states[this.kind], this.box, this.colours.density);
    const [left, low, right, high] = this.box;
    const [x, y] = this.pixel([left, high]);
    const [a, b] = this.pixel([right, low]);
    this.context.drawImage(this.picture, x, y, a - x, b - y);
  }

  drawStates(colour) {
    const {states, cells} = this.snapshot;
    const last = Math.max(...states.steps, 1);
    const values = colour === "time" ? [] : cells[colour];
    const [least, most] = [Math.min(...values), Math.max(...values)];
    states[this.kind].forEach((point, i) => {
      const value = values[states.cells[i]];
      if (colour !== "time" && value === undefined) return;
      const fill = colour === "time" ? along(this.colours.path, states.steps[i] / last)
        : measure((value - least) / (most - least || 1));
      shape(this.context, "dot", this.pixel(point), 2.4, fill);
    });
  }

  drawTrajectories() {
    const {context, colours, snapshot} = this;
    context.lineCap = "round";
    snapshot.trajectories.forEach((trajectory, number) => {
      const newest = number === snapshot.trajectories.length - 1;
      context.lineWidth = newest ? 2.6 : 1.1;
      context.globalAlpha = newest ? 1 : 0.55;
      const points = trajectory[this.kind].map((point) => this.pixel(point));
      for (let i = 1; i < points.length; i++) {
        context.strokeStyle = along(colours.path, i / (points.length - 1));
        context.beginPath();
        context.moveTo(...points[i - 1]);
        context.lineTo(...points[i]);
        context.stroke();
      }
    });
    context.globalAlpha = 1;
  }

  drawSubgoals() {
    const {context, colours} = this;
    const forms = {policy: "cross", imagined: "triangle", selected: "dot"};
    for (const mark of this.marks.filter((each) => each.kind in forms)) {
      const place = this.pixel(mark[this.kind]);
      if (mark.from && this.kind === "space") {
        context.strokeStyle = colours.imagined;
        context.lineWidth = 0.8;
        context.beginPath();
        context.moveTo(...this.pixel(mark.from.space));
        context.lineTo(...place);
        context.stroke();
      }
      shape(context, forms[mark.kind], place, 4.2, colours[mark.kind], colours.panel);
    }
  }

  drawPointed(mark) {
    const {context, colours} = this;
    const [x, y] = this.pixel(mark[this.kind]);
    for (const [width, colour] of [[5, colours.panel], [2.2, colours.ink]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, 9, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

// A box around points, with some room.
function around(points) {
  const columns = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, low] = columns.map((values) => Math.min(...values));
  const [right, high] = columns.map((values) => Math.max(...values));
  return widened([left, low, right, high], 0.05);
}

function widened([left, low, right, high], share) {
  const room = share * Math.max(right - left, high - low, 1e-6);
  return [left - room, low - room, right + room, high + room];
}
