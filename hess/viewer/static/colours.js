// Colours: from the style sheet where they depend on the theme, ramps for quantities.

const MEASURE = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"].map(parse);

function parse(hex) {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

// A colour between the anchors, for t from 0 to 1, as [red, green, blue].
export function mix(anchors, t) {
  const place = Math.min(Math.max(t, 0), 1) * (anchors.length - 1);
  const left = Math.min(Math.floor(place), anchors.length - 2);
  return anchors[left].map((part, i) => Math.round(part + (anchors[left + 1][i] - part) * (place - left)));
}

const css = (rgb) => `rgb(${rgb.join(" ")})`;
export const along = (anchors, t) => css(mix(anchors, t));
export const measure = (t) => css(mix(MEASURE, t));

// The colours of the theme in use, by their names in the style sheet.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["panel", "ink", "soft", "line", "wall", "faint", "goal", "start", "selected",
    "imagined", "policy", "first", "second", "pale", "accent"];
  const colours = Object.fromEntries(names.map((name) => [name, named(name)]));
  for (const ramp of ["density", "path"]) {
    colours[ramp] = [0, 1, 2, 3, 4].map((i) => parse(named(`${ramp}-${i}`)));
  }
  return colours;
}
