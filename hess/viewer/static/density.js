// Where many points are: a smooth picture of their density, transparent where there are none.

import {mix} from "./colours.js";

const PIXELS = 54; // along the longer side
const KERNEL = [0.0044, 0.054, 0.242, 0.3992, 0.242, 0.054, 0.0044]; // Gaussian, deviation 1 pixel
const SHOWN = 0.1 * KERNEL[3] ** 2; // a tenth of what a single point gives at its place

// points [[x, y]...] inside of box [left, low, right, high] -> a canvas to draw over that box.
export function densityPicture(points, box, anchors) {
  const [left, low, right, high] = box;
  const pixel = Math.max(right - left, high - low) / PIXELS;
  const width = Math.max(Math.round((right - left) / pixel), 1);
  const height = Math.max(Math.round((high - low) / pixel), 1);
  const counts = new Float64Array(width * height);
  for (const [x, y] of points) {
    const column = Math.floor((x - left) / pixel);
    const row = Math.floor((high - y) / pixel);
    if (column >= 0 && column < width && row >= 0 && row < height) counts[row * width + column] += 1;
  }
  const smooth = blur(blur(counts, width, height, 1, width), width, height, width, 1);
  return paint(smooth, width, height, anchors);
}

// One pass of the blur: `step` leads to the next value of a line, `across` to the next line.
function blur(values, width, height, step, across) {
  const count = step === 1 ? width : height;
  const lines = step === 1 ? height : width;
  const result = new Float64Array(values.length);
  for (let line = 0; line < lines; line++) {
    for (let i = 0; i < count; i++) {
      let sum = 0;
      for (let k = Math.max(-3, -i); k <= Math.min(3, count - 1 - i); k++) {
        sum += KERNEL[k + 3] * values[line * across + (i + k) * step];
      }
      result[line * across + i * step] = sum;
    }
  }
  return result;
}

function paint(values, width, height, anchors) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const range = Math.log(Math.max(...values) / SHOWN) || 1;
  values.forEach((value, i) => {
    if (value <= SHOWN) return;
    image.data.set([...mix(anchors, Math.log(value / SHOWN) / range), 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
