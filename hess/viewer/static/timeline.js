// The slider over all snapshots, and playing along it.

const PAUSE = 700; // milliseconds between snapshots while playing

export class Timeline {
  constructor(changed) {
    this.changed = changed;
    this.steps = [];
    this.slider = document.getElementById("slider");
    this.playButton = document.getElementById("play");
    this.followBox = document.getElementById("follow");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value), true));
    this.playButton.addEventListener("click", () => this.play(!this.timer));
    this.followBox.addEventListener("change", () => this.followBox.checked && this.go(Infinity));
  }

  get step() {
    return this.steps[Number(this.slider.value)];
  }

  // New snapshots may have come; the moment shown stays, unless the newest is to be followed.
  setSteps(steps) {
    const before = this.step;
    this.steps = steps;
    this.slider.max = Math.max(steps.length - 1, 0);
    const kept = before === undefined ? -1 : steps.findLastIndex((step) => step <= before);
    this.go(this.followBox.checked || kept < 0 ? Infinity : kept);
  }

  // `byHand`: somebody chose this moment, so the newest is no longer followed.
  go(index, byHand = false) {
    const last = this.steps.length - 1;
    const place = Math.min(Math.max(index, 0), Math.max(last, 0));
    this.slider.value = place;
    if (byHand) this.followBox.checked = place === last;
    const text = this.step === undefined ? "no snapshot" : `step ${this.step.toLocaleString("en")}`;
    document.getElementById("step").textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.changed(this.step);
  }

  goToStep(step) {
    this.go(Math.max(this.steps.findLastIndex((each) => each <= step), 0), true);
  }

  move(by) {
    this.go(Number(this.slider.value) + by, true);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = null;
    if (on && this.steps.length > 1) {
      if (Number(this.slider.value) === this.steps.length - 1) this.go(0, true);
      this.timer = setInterval(() => this.advance(), PAUSE);
    }
    this.playButton.setAttribute("aria-pressed", String(Boolean(this.timer)));
    this.playButton.firstChild.textContent = this.timer ? "❚❚" : "▶";
  }

  advance() {
    this.move(1);
    if (Number(this.slider.value) === this.steps.length - 1) this.play(false);
  }
}

// 25000 -> "25k", 1250000 -> "1.25M"
export function short(step) {
  if (Math.abs(step) >= 1e6) return `${Number((step / 1e6).toPrecision(4))}M`;
  return Math.abs(step) >= 1e3 ? `${Number((step / 1e3).toPrecision(4))}k` : String(step);
}
