// What maps are made of: marks, walls, axes.

const STAR = Array.from({length: 10}, (_, i) => {
  const angle = (Math.PI * i) / 5 - Math.PI / 2;
  const radius = i % 2 ? 0.45 : 1.1;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});

export function shape(context, form, [x, y], size, fill, edge) {
  context.beginPath();
  if (form === "cross") {
    context.moveTo(x - size * 0.8, y - size * 0.8);
    context.lineTo(x + size * 0.8, y + size * 0.8);
    context.moveTo(x + size * 0.8, y - size * 0.8);
    context.lineTo(x - size * 0.8, y + size * 0.8);
    context.strokeStyle = fill;
    context.lineWidth = 1.7;
    context.stroke();
    return;
  }
  if (form === "dot") context.arc(x, y, size, 0, 2 * Math.PI);
  if (form === "triangle") polygon(context, [x, y], size, [[0, -1.25], [1.1, 0.75], [-1.1, 0.75]]);
  if (form === "star") polygon(context, [x, y], size, STAR);
  context.fillStyle = fill;
  context.fill();
  if (edge) {
    context.strokeStyle = edge;
    context.lineWidth = 1.2;
    context.stroke();
  }
}

function polygon(context, [x, y], size, corners) {
  corners.forEach(([a, b], i) => context[i ? "lineTo" : "moveTo"](x + size * a, y + size * b));
  context.closePath();
}

// Walls, block, start and goal.
export function drawPlan(context, pixel, plan, colours) {
  const rectangle = ([left, low, right, high]) => {
    const [x, y] = pixel([left, high]);
    const [a, b] = pixel([right, low]);
    return [x, y, a - x, b - y];
  };
  context.fillStyle = colours.wall;
  for (const wall of plan.walls) {
    const [x, y, width, height] = rectangle(wall);
    context.fillRect(x - 0.3, y - 0.3, width + 0.6, height + 0.6); // no seams between neighbours
  }
  if (plan.block) {
    context.strokeStyle = colours.second;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.6;
    context.strokeRect(...rectangle(plan.block));
    context.setLineDash([]);
  }
  shape(context, "dot", pixel(plan.start), 5, colours.start, colours.panel);
  shape(context, "star", pixel(plan.goal), 10, colours.goal, colours.panel);
}

// Ticks and names along the left and the lower edge of the map's box.
export function drawAxes(context, map, colours) {
  const [left, low, right, high] = map.box;
  const [x0, y0] = map.pixel([left, low]);
  const [x1, y1] = map.pixel([right, high]);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.strokeRect(x0, y1, x1 - x0, y0 - y1);
  context.fillStyle = colours.soft;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of ticks(left, right)) context.fillText(text(tick), map.pixel([tick, low])[0], y0 + 4);
  context.fillText(map.labels[0], (x0 + x1) / 2, y0 + 17);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticks(low, high)) context.fillText(text(tick), x0 - 5, map.pixel([left, tick])[1]);
  context.save();
  context.translate(x0 - 30, (y0 + y1) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(map.labels[1], 0, 0);
  context.restore();
}

const text = (value) => Number(value.toPrecision(6)).toString().replace("-", "−");

function ticks(from, to) {
  const rough = (to - from) / 7;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(from / step);
  return Array.from({length: Math.floor(to / step) - first + 1}, (_, i) => (first + i) * step);
}
