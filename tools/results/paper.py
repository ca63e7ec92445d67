"""The paper's figures and tables by their numbers, and what each shows there, in our words."""

from __future__ import annotations

from dataclasses import dataclass

from hess.sweeps.suites import SUITES, Suite


@dataclass(frozen=True)
class PaperItem:
    """A figure or a table of the paper."""

    name: str
    """That of its suite, where it has one."""
    shows: str
    """One sentence."""
    picture: str = ""
    """Where another page has it already, from docs/."""

    @property
    def title(self) -> str:
        """Figure 4, Table 1."""
        kind = "Table" if self.name.startswith("table") else "Figure"
        return f"{kind} {self.name.removeprefix('table').removeprefix('fig')}"

    @property
    def suite(self) -> Suite | None:
        """What it takes to make it; None for a drawing of the method."""
        return SUITES.get(self.name)


_ROWS = (
    PaperItem(
        "fig1",
        "A high-level policy sets a subgoal every c steps, and a low-level policy is rewarded for "
        "reaching it in the subgoal space.",
    ),
    PaperItem(
        "fig2",
        "Among visited states near the present one, a subgoal that is new and promising is "
        "selected and pushed a little beyond what has been explored.",
    ),
    PaperItem(
        "fig3",
        "At 0.2 million steps on AntMaze the densities of visits in x, y and in φ do not match, "
        "since φ has moved in the meantime; the potential tells frontiers that can be extended "
        "from those that cannot, and the combined score is best at the former.",
    ),
    PaperItem(
        "fig4",
        "HESS does clearly better than H-ICM, H-SR, LESSON and SAC on all tasks, most of all on "
        "AntFourRooms; LESSON and SAC hardly solve any, and DADS never succeeds.",
    ),
    PaperItem("fig5", "A ⊃-shaped corridor with the start at one end and the goal at the other."),
    PaperItem(
        "fig6",
        "With the stability term, φ of AntMazeImages takes its shape early and hardly changes from "
        "0.25 million steps on where it fits already; without it, all of φ keeps moving.",
    ),
    PaperItem(
        "fig7",
        "Without potential, success is much lower, and reactive exploration learns more slowly; "
        "stability and priority matter with images and little with vectors.",
    ),
    PaperItem(
        "fig8",
        "At 0.25 million steps on AntMaze, HESS selects subgoals along the corridor; without "
        "potential they gather in corners, with immediate counts more of them lie near walls.",
    ),
    PaperItem(
        "fig9",
        "On AntPushImages, α, d_e and k% work in a wide range as long as d_e and k% are not too "
        "large; c matters most, with 20 and 50 best.",
    ),
    PaperItem(
        "fig10",
        "The mazes of the point and the ant, the block that has to be pushed, the four rooms, "
        "and the cheetah's hurdle and hill.",
        picture="images/tasks.png",
    ),
    PaperItem(
        "fig11",
        "The variance of H-SR's intrinsic rewards on AntMaze vanishes early in training, so that "
        "they tell states apart no longer.",
    ),
    PaperItem(
        "fig12",
        "Traces of one DADS skill on AntMaze scatter widely: skills learned on all of the "
        "observation are of little use for hierarchical control.",
    ),
    PaperItem(
        "fig13",
        "FuN's representation of AntMaze, by t-SNE, does not keep the order of its trajectories "
        "in x, y, and after 70 million steps it has not succeeded once.",
    ),
    PaperItem(
        "fig14",
        "HESS is robust to I from 50 to 150 and to buffers from 0.2 to 2 million; I = 500 fails on "
        "AntMazeImages, and p₀ = 0.3 needs more steps than 0.5 and 0.7.",
    ),
    PaperItem(
        "fig15",
        "Imagined subgoals need fewer steps than subgoals that are selected within a larger "
        "radius, on AntPush and AntPushImages.",
    ),
    PaperItem("fig16", "Novelty by age discount and by importance sampling do about equally well."),
    PaperItem("fig17", "A binary λ(s) does slightly better than a continuous one."),
    PaperItem(
        "table1",
        "One set of hyper-parameters for all tasks, with the ranges that were tried.",
    ),
)

PAPER = {row.name: row for row in _ROWS}
