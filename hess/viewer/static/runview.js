// One run on the page: its two maps, linked, at one moment of training.

import {askSnapshot} from "./api.js";
import {theme} from "./colours.js";
import {Map2D} from "./map.js";
import {describe, marksOf, walkOf} from "./marks.js";

const KEPT = 60; // snapshots in memory

export class RunView {
  constructor(name, place) {
    this.name = name;
    this.element = document.getElementById("run").content.cloneNode(true).firstElementChild;
    this.element.classList.toggle("second", place === 1);
    this.part = (selector) => this.element.querySelector(selector);
    this.maps = [new Map2D(this.part(".plane"), "plane"), new Map2D(this.part(".space"), "space")];
    this.snapshots = new Map(); // step -> promise
    this.pointed = null;
    this.walked = -1;
    for (const map of this.maps) this.listen(map);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.part(".maps"));
  }

  remove() {
    this.observer.disconnect();
    this.element.remove();
  }

  // What the server says about the run as a whole; null and a problem where it cannot be read.
  update(run, problem) {
    this.run = run;
    const path = document.createElement("small");
    path.textContent = this.name;
    if (run && run.snapshots.at(-1) !== this.newest) {
      this.newest = run.snapshots.at(-1);
      this.snapshots.clear(); // all moments are shown along the directions of the newest
    }
    this.part("h2").replaceChildren(run?.method ? `${run.method} on ${run.task}` : "damaged run", path);
    this.part("figcaption").textContent = run?.plan?.axes[1] === "z" ? "from the side" : "from above";
    this.problems = run ? run.problems : [problem];
    this.listProblems();
  }

  // Problems of the run, and of the snapshot that should be shown; a map that is empty is hidden.
  listProblems(ofSnapshot = []) {
    this.part(".problems").replaceChildren(...[...this.problems, ...ofSnapshot].map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
    this.part(".maps").hidden = ofSnapshot.length > 0 || !this.run?.snapshots.length;
  }

  // Show the newest snapshot that is not later than `step`.
  async showStep(step) {
    const known = (this.run?.snapshots ?? []).filter((each) => each <= step);
    this.wanted = known.at(-1) ?? this.run?.snapshots[0];
    if (this.wanted === undefined || this.wanted === this.shown) return;
    const {wanted} = this;
    try {
      const snapshot = await this.load(wanted);
      if (wanted !== this.wanted) return; // the slider has moved on
      this.listProblems();
      this.take(snapshot);
    } catch (error) {
      this.snapshots.delete(wanted);
      if (wanted === this.wanted) this.listProblems([error.message]);
    }
  }

  load(step) {
    if (!this.snapshots.has(step)) this.snapshots.set(step, askSnapshot(this.name, step));
    if (this.snapshots.size > KEPT) this.snapshots.delete(this.snapshots.keys().next().value);
    return this.snapshots.get(step);
  }

  take(snapshot) {
    this.shown = snapshot.step;
    this.snapshot = snapshot;
    const marks = marksOf(snapshot);
    for (const map of this.maps) map.show(snapshot, this.run.plan, marks);
    const {space_title: title, strengths} = snapshot;
    const moved = strengths.length ? `; its slowest directions move ${strengths.join(", ")}` : "";
    this.part(".what").textContent = title + moved;
    this.element.dataset.step = snapshot.step;
    this.point(null);
  }

  draw(layers = this.layers) {
    this.layers = layers;
    const colours = theme();
    for (const map of this.maps) {
      map.canvas.setAttribute("aria-label", this.label(map.kind));
      map.draw(layers, colours, this.pointed);
    }
  }

  redrawInTheme() {
    for (const map of this.maps) map.picture = null;
    this.draw();
  }

  label(kind) {
    const what = kind === "plane" ? "the task from above" : "the subgoal space φ";
    return `${what} at step ${this.shown ?? 0}: visits, newest trajectories and subgoals`;
  }

  listen(map) {
    const {canvas} = map;
    canvas.addEventListener("pointermove", (event) => {
      if (!this.snapshot) return;
      const kinds = new Set(["state", ...(this.layers.subgoals ? ["selected", "imagined", "policy"] : [])]);
      this.point(map.nearest(event.offsetX, event.offsetY, kinds));
    });
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("blur", () => this.point(null));
    canvas.addEventListener("keydown", (event) => this.walk(event));
  }

  // Arrow keys on a map lead along the newest trajectory.
  walk(event) {
    const ways = {ArrowLeft: -1, ArrowRight: 1};
    if (!this.snapshot || !(event.key in ways)) return;
    event.preventDefault();
    event.stopPropagation();
    const walk = walkOf(this.snapshot);
    const next = Math.min(Math.max(this.walked + ways[event.key], 0), walk.length - 1);
    this.point(walk[next] ?? null);
    this.walked = next;
  }

  point(mark) {
    this.pointed = mark;
    this.walked = -1;
    this.part(".point").textContent = mark ? describe(mark, this.run.plan?.axes ?? ["x", "y"]) : "";
    this.draw();
  }
}
