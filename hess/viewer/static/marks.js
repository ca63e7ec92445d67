// Everything of a snapshot that can be pointed at: its place in both maps and what to say of it.

const round = (value) => (value === null ? "?" : Number(value.toPrecision(3)).toString());
const pair = ([a, b]) => `(${round(a)}, ${round(b)})`;

export function marksOf(snapshot) {
  const states = snapshot.states.plane.map((plane, i) => ({
    kind: "state",
    plane,
    space: snapshot.states.space[i],
    about: `step ${snapshot.states.steps[i]} of its episode${cellText(snapshot, i)}`,
  }));
  return [...snapshot.trajectories.flatMap(subgoalMarks), ...states];
}

function cellText(snapshot, i) {
  const cell = snapshot.states.cells[i];
  if (cell < 0) return "";
  const {visits, potential, score} = snapshot.cells;
  return `; its cell: ${visits[cell]} visits, potential ${round(potential[cell])}, score ${round(score[cell])}`;
}

function subgoalMarks(trajectory) {
  return trajectory.active.flatMap((active, i) => {
    const pursued = {plane: trajectory.subgoals_plane[i], space: trajectory.subgoals[i]};
    if (!active) return [{kind: "policy", ...pursued, about: "subgoal of the high-level policy"}];
    const selected = {plane: trajectory.selected_plane[i], space: trajectory.selected[i]};
    return [
      {kind: "imagined", ...pursued, from: selected, about: "imagined subgoal, beyond the selected one"},
      {kind: "selected", ...selected, about: "selected subgoal: novel and within reach"},
    ];
  });
}

// The newest trajectory as a row of marks, to walk along with the keyboard.
export function walkOf(snapshot) {
  const newest = snapshot.trajectories.at(-1);
  if (!newest) return [];
  const end = newest.plane.length - 1;
  return newest.plane.map((plane, i) => ({
    kind: "state",
    plane,
    space: newest.space[i],
    about: `newest trajectory, ${end ? Math.round((100 * i) / end) : 0} % of the way`,
  }));
}

export function describe(mark, axes) {
  const where = mark.kind === "state" ? "" : "nearest visited ";
  return `${where}${axes.join(", ")} ${pair(mark.plane)} m · φ ${pair(mark.space)} · ${mark.about}`;
}
