// The page: which runs, which moment, and asking the server again and again.

import {askRun, askRuns} from "./api.js";
import {Charts} from "./charts.js";
import {RunView} from "./runview.js";
import {short, Timeline} from "./timeline.js";

const PAUSE = 2000; // milliseconds between questions
const LIVE = 120; // seconds since the last line of metrics within which a run counts as training

const by = (id) => document.getElementById(id);
const choosers = [by("first"), by("second")];
const views = []; // one or two RunViews
const timeline = new Timeline((step) => showStep(step));
const charts = new Charts((step) => timeline.goToStep(step));
let runs = []; // what the server has, in the order of the choosers
let before = []; // what it said about the runs shown

function layers() {
  const boxes = [...document.querySelectorAll("#layers input")];
  const shown = Object.fromEntries(boxes.map((box) => [box.name, box.checked]));
  return {...shown, colour: by("colour").value};
}

function showStep(step) {
  for (const view of views) {
    view.layers = layers();
    if (step !== undefined) view.showStep(step);
  }
  charts.mark(step);
}

function say(text) {
  by("message").textContent = text;
  by("message").hidden = !text;
}

// --- choosing runs ---------------------------------------------------------------------------

function fillChoosers(list) {
  runs = list;
  const wanted = new URLSearchParams(location.hash.slice(1));
  choosers.forEach((chooser, place) => {
    const before = chooser.options.length ? chooser.value : wanted.get(chooser.id);
    const none = place ? [["", "nothing"]] : [];
    const rows = [...none, ...list.map((run) => [run.name, title(run)])];
    const same = rows.length === chooser.options.length
      && rows.every(([value], i) => chooser.options[i].value === value);
    if (same) { // an open list must not be rebuilt under the user's hand
      rows.forEach(([, text], i) => { if (chooser.options[i].text !== text) chooser.options[i].text = text; });
      return;
    }
    chooser.replaceChildren(...rows.map(([value, text]) => new Option(text, value)));
    chooser.value = rows.some(([value]) => value === before) ? before : rows[0]?.[0] ?? "";
  });
}

const title = (run) => (run.problem ? `⚠ ${run.name}` : `${run.title} · ${short(run.step)} of ${short(run.steps)}`);

function chosenNames() {
  return choosers.map((chooser) => chooser.value).filter((name, place) => place === 0 || name);
}

function arrangeViews() {
  const names = chosenNames();
  if (names.length === views.length && names.every((name, i) => views[i].name === name)) return;
  for (const view of views.splice(0)) view.remove();
  names.forEach((name, place) => views.push(new RunView(name, place)));
  by("runs").replaceChildren(...views.map((view) => view.element));
  by("runs").classList.toggle("two", views.length > 1);
  history.replaceState(null, "", `#${new URLSearchParams(choosers.map((each) => [each.id, each.value]))}`);
}

// --- keeping up ------------------------------------------------------------------------------

async function refresh() {
  const list = await askRuns();
  by("page").hidden = !list.length;
  say(list.length ? "" : "There is no run in this folder yet. `hess train` makes one; it will appear here.");
  if (!list.length) return;
  fillChoosers(list);
  arrangeViews();
  const shown = [...views];
  const answers = await Promise.all(shown.map((view) => askRun(view.name).catch((error) => error)));
  if (shown.some((view, i) => view !== views[i])) return; // another run was chosen meanwhile
  showStatus();
  if (answers.length === before.length && answers.every((answer, i) => answer === before[i])) return;
  before = answers;
  takeAnswers(answers);
}

function takeAnswers(answers) {
  answers.forEach((answer, i) => {
    const failed = answer instanceof Error;
    views[i].layers = layers();
    views[i].update(failed ? null : answer, failed ? answer.message : "");
  });
  const good = labelled(answers);
  charts.show(good);
  timeline.setSteps([...new Set(good.flatMap(({run}) => run.snapshots))].sort((a, b) => a - b));
}

// The runs that could be read, each with the part of its name that tells it from the other.
function labelled(answers) {
  const good = answers.filter((answer) => !(answer instanceof Error));
  const parts = good.map((run) => run.name.split("/"));
  const same = parts[0]?.findIndex((part, i) => parts.some((other) => other[i] !== part)) ?? 0;
  return good.map((run, i) => ({label: good.length > 1 ? parts[i].slice(Math.max(same, 0)).join("/") : "", run}));
}

function showStatus() {
  const run = runs.find((each) => each.name === choosers[0].value);
  const training = run && !run.problem && run.age !== null && run.age < LIVE && run.step < run.steps;
  by("status").classList.toggle("live", Boolean(training));
  if (!run || run.problem) by("status").textContent = "";
  else if (run.step >= run.steps) by("status").textContent = `finished, ${short(run.steps)} steps`;
  else by("status").textContent = `${training ? "training" : "paused"}, ${short(run.step)} of ${short(run.steps)} steps`;
}

async function keepUp() {
  try {
    await refresh();
  } catch (error) {
    say(`No answer from \`hess view\` (${error.message}); it will be asked again.`);
  }
  setTimeout(keepUp, document.hidden ? 5 * PAUSE : PAUSE);
}

// --- theme, keys, start ----------------------------------------------------------------------

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  for (const view of views) view.redrawInTheme();
  charts.rebuild(labelled(before));
}

function otherTheme() {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", name);
  setTheme(name);
}

const keys = {
  " ": () => timeline.play(!timeline.timer),
  ArrowLeft: () => timeline.move(-1),
  ArrowRight: () => timeline.move(1),
  Home: () => timeline.go(0, true),
  End: () => timeline.go(Infinity, true),
  f: () => by("follow").click(),
  t: otherTheme,
};

document.addEventListener("keydown", (event) => {
  const busy = event.target.closest("select, button, input[type=checkbox]");
  const own = event.target.id === "slider" && event.key !== " " && event.key.length > 1;
  if (busy || own || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

for (const chooser of choosers) {
  chooser.addEventListener("change", () => {
    before = [];
    arrangeViews();
    refresh().catch((error) => say(error.message));
  });
}
by("layers").addEventListener("change", () => views.forEach((view) => view.draw(layers())));
by("theme").addEventListener("click", otherTheme);

const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => localStorage.getItem("theme") ?? setTheme(dark.matches ? "dark" : "light"));
keepUp();
