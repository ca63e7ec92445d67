"""Nobody gets over or through a wall; the block moves when pushed and only then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hess.envs.layouts import Layout
from hess.envs.physics import mujoco
from hess.errors import HessError
from hess.training.coverage import Coverage

CHEETAHS = ["CheetahHurdle", "CheetahAscending"]
ANTS = ["AntMaze", "AntPush", "AntFourRooms"]
USUAL_SPEED = 2.0  # m/s, of a quick trained ant


@pytest.mark.parametrize("name", ANTS)
def test_violent_actions_stay_inside(name: str, build: Any) -> None:
    env = build(name).unwrapped
    generator = np.random.default_rng(0)
    for seed in range(4):
        env.reset(seed=seed, options={"start": env._random_start()} if seed else None)
        for _ in range(150):
            *_, info = env.step(generator.choice([-1.0, 1.0], 8))
            assert env.floor_plan.is_free(info["xy"])


@pytest.mark.parametrize("name", ANTS)
@pytest.mark.parametrize("times", [3, 5, 8])
def test_a_thrown_ant_stays_inside(name: str, times: int, build: Any) -> None:
    env = build(name).unwrapped
    generator = np.random.default_rng(times)
    for seed in range(15):
        env.reset(seed=seed)
        env.reset(seed=seed, options={"start": env._random_start()})
        angle = generator.uniform(0, 2 * np.pi)
        speed = times * USUAL_SPEED
        env.data.qvel[:2] = speed * np.cos(angle), speed * np.sin(angle)
        env.data.qvel[3:6] = speed * generator.standard_normal(3)
        for _ in range(12):
            *_, info = env.step(generator.choice([-1.0, 1.0], 8))
            assert env.floor_plan.is_free(info["xy"])
        assert not env.data.warning.number.any()


@pytest.mark.parametrize("name", ANTS)
def test_an_ant_in_the_wall_of_a_corner_comes_out(name: str, build: Any) -> None:
    """A box has no face behind the next wall through which the nearest way out could lead."""
    env = build(name).unwrapped
    for corner, outwards in inner_corners(env.layout):
        for depth in ((-0.05, 0.25), (0.25, 0.12), (0.12, 0.12)):
            env.reset(seed=0)
            env.data.qpos[:2] = np.array(corner) + np.array(outwards) * depth
            env.data.qvel[:] = 0.0
            for _ in range(15):
                *_, info = env.step(np.zeros(8))
            assert env.floor_plan.is_free(info["xy"]), corner


def inner_corners(layout: Layout) -> list[tuple[tuple[float, float], tuple[int, int]]]:
    """Corners of free cells where two walls meet, and the direction into them."""
    corners = []
    for row, column in set(layout.reachable) - set(layout.find("B")):
        x, y = layout.centre((row, column))
        for east, north in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            if layout.rows[row - north][column] == layout.rows[row][column + east] == "#":
                half = layout.cell / 2
                corners.append(((x + east * half, y + north * half), (east, north)))
    return corners


@pytest.mark.slow
@pytest.mark.parametrize("name", ANTS)
@pytest.mark.parametrize(("speed", "depth"), [(20.0, 0.0), (50.0, 0.5)])
def test_how_deep_an_ant_gets_into_a_wall(
    name: str, speed: float, depth: float, build: Any
) -> None:
    """docs/tasks.md says: up to 20 m/s never, at 50 m/s half a metre, and back out of it."""
    env = build(name).unwrapped
    generator = np.random.default_rng(0)
    xmin, ymin, xmax, ymax = env.floor_plan.walls.T
    for seed in range(60):
        env.reset(seed=seed)
        env.reset(seed=seed, options={"start": env._random_start()})
        angle = generator.uniform(0, 2 * np.pi)
        env.data.qvel[:2] = speed * np.cos(angle), speed * np.sin(angle)
        env.data.qvel[3:6] = speed * generator.standard_normal(3)
        for substep in range(150):
            if substep % env.substeps == 0:
                env.data.ctrl[:] = generator.choice([-16.0, 16.0], 8)
            mujoco.mj_step(env.model, env.data)
            x, y = env.data.qpos[:2]
            inside = np.minimum.reduce([x - xmin, xmax - x, y - ymin, ymax - y])
            assert inside.max() <= depth
        assert env.floor_plan.is_free((x, y))


@pytest.mark.parametrize("name", ANTS)
def test_outer_walls_are_solid_from_the_edge_of_the_map_outwards(name: str, build: Any) -> None:
    """Planes stand for them; one that faced the wrong way would throw the robot out."""
    env = build(name).unwrapped
    env.reset(seed=0)
    planes = set(np.flatnonzero(env.model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE))
    walls = planes - {env.model.geom("floor").id}
    left, low, right, high = env.layout.interior
    points = [(left, 0.0), (right, 0.0), (0.0, low), (0.0, high)]
    for depth, touched in ((0.5, True), (-1.5, False)):  # beyond the edge; inside, legs and all
        for point in points:
            outwards = np.sign(np.array(point) - (np.array([left + right, low + high]) / 2))
            outwards *= np.array(point) != 0
            env.data.qpos[:3] = (*(np.array(point) + depth * outwards), 30.0)  # above all boxes
            mujoco.mj_forward(env.model, env.data)
            contacts = env.data.contact.geom[: env.data.ncon]
            assert bool(walls & set(contacts.ravel())) == touched, (point, depth)


def test_a_racing_point_stays_inside(build: Any) -> None:
    env = build("PointMaze").unwrapped
    generator = np.random.default_rng(0)
    env.reset(seed=0)
    positions = []
    for _ in range(20_000):
        *_, info = env.step(np.array([generator.choice([-9.0, 9.0]), generator.normal()]))
        positions.append(info["xy"])
    assert env.floor_plan.is_free(positions).all()
    assert np.ptp(positions, axis=0).min() > 10  # and it has been everywhere


def test_a_thrown_cheetah_goes_over_the_hurdle_never_through(build: Any) -> None:
    env = build("CheetahHurdle").unwrapped
    model, data = env.model, env.data
    limbs = np.flatnonzero(model.geom_bodyid > 0)
    generator = np.random.default_rng(0)
    crossed = False
    for seed in range(12):
        env.reset(seed=seed)
        data.qvel[0] = 12.0
        before = data.geom_xpos[limbs].copy()
        for step in range(150):
            if step % env.substeps == 0:
                data.ctrl[:] = generator.choice([-1.0, 1.0], 6)
            mujoco.mj_step(model, data)
            mujoco.mj_kinematics(model, data)
            after = data.geom_xpos[limbs].copy()
            passes = (before[:, 0] < 1.0) & (after[:, 0] >= 1.0)
            low = np.maximum(before[:, 2], after[:, 2]) < 0.30
            assert not (passes & low).any()
            crossed |= bool(passes.any())
            before = after
    assert crossed


@pytest.mark.parametrize("name", CHEETAHS)
@pytest.mark.parametrize("speed", [-20.0, -8.0, 8.0, 20.0])
def test_a_thrown_cheetah_stays_on_a_closed_track(name: str, speed: float, build: Any) -> None:
    env = build(name).unwrapped
    left, _, right, _ = env.floor_plan.bounds
    assert left == -3.0
    assert right >= env.floor_plan.goal[0] + 3.0
    x = 4.5 if speed > 0 else -1.0
    met = left + 1.0 if speed < 0 else right - 1.0
    for seed in range(8):
        env.reset(seed=seed, options={"start": (x, env._ground(x) + 0.5)})
        env.data.qvel[:3] = speed, env.np_random.uniform(0, 8), 5 * env.np_random.normal()
        places = [torso_after_a_substep(env) for _ in range(300)]
        assert min(places) > left
        assert max(places) < right
        assert (min(places) < met) if speed < 0 else (max(places) > met)  # it did get there
    assert not env.data.warning.number.any()


def torso_after_a_substep(env: Any) -> float:
    """Its x: between two actions nothing gets out, either."""
    mujoco.mj_step(env.model, env.data)
    return float(env.data.qpos[0])


@pytest.mark.parametrize("name", CHEETAHS)
def test_a_closed_track_has_no_top(name: str, build: Any) -> None:
    env = build(name).unwrapped
    left, _, right, _ = env.floor_plan.bounds
    for x, touches in ((left - 0.5, True), (1.0, False), (right + 0.5, True)):
        env.data.qpos[:2] = x, 100.0
        mujoco.mj_forward(env.model, env.data)
        assert (env.data.ncon > 0) == touches
        assert (np.abs(env.data.contact.frame[:, 0]) == 1.0).all()  # pushes along x


@pytest.mark.parametrize("name", CHEETAHS)
def test_an_open_track_does_not_end(name: str, build: Any) -> None:
    env = build(name, track="open").unwrapped
    assert env.floor_plan.bounds == (-2.0, -0.7, 7.0, 2.5)
    for x, speed in ((-1.0, -20.0), (4.5, 20.0)):
        env.reset(seed=0, options={"start": (x, env._ground(x) + 0.5)})
        env.data.qvel[0] = speed
        for _ in range(20):
            *_, info = env.step(np.zeros(6))
        assert abs(info["xy"][0] - x) > 6.0


@pytest.mark.parametrize("name", CHEETAHS)
def test_coverage_of_a_closed_track_counts_what_can_be_reached(name: str, build: Any) -> None:
    """Violent actions from all along the track: they leave the band over the ground rarely."""
    env = build(name).unwrapped
    generator = np.random.default_rng(0)
    coverage, places = Coverage(env.floor_plan), []
    left, _, right, _ = env.floor_plan.bounds
    for seed, x in enumerate(np.arange(left + 1.0, right - 0.5, 0.5)):
        for height in (0.4, 0.6):
            env.reset(seed=seed, options={"start": (x, env._ground(x) + height)})
            for _ in range(40):
                *_, info = env.step(generator.choice([-1.0, 1.0], 6))
                places.append(info["xy"])
    coverage.add(np.array(places))
    assert coverage.share() == 1.0
    assert env.floor_plan.is_reachable(places).mean() > 0.95


def test_the_untouched_block_stands_still(build: Any) -> None:
    env = build("AntPush").unwrapped
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    for _ in range(500):
        # The ant moves about in its own corner, held back from the block.
        env.data.xfrc_applied[1, :2] = 8.0 * (np.array([-4.0, -0.5]) - env.data.qpos[:2])
        *_, info = env.step(0.2 * generator.uniform(-1, 1, 8))
        assert info["block"] == (0.0, 4.0)


def test_an_ant_pushes_the_block(build: Any) -> None:
    env = build("AntPush").unwrapped
    env.reset(seed=0, options={"start": (-3.5, 4.0)})
    for _ in range(60):
        env.data.xfrc_applied[1, 0] = 8.0  # less than the ant weighs
        *_, info = env.step(np.zeros(8))
    assert info["block"][0] > 2.0
    stopped = info["block"]
    env.data.xfrc_applied[:] = 0.0
    env.data.qpos[:2] = -4.0, 0.0
    env.data.qvel[:] = 0.0
    for _ in range(50):
        *_, info = env.step(np.zeros(8))
    assert np.allclose(info["block"], stopped, atol=0.05)  # it does not drift on


@pytest.mark.parametrize(("goal_post", "way"), [(False, 4.0), (True, 1.6)])
def test_a_post_stops_the_block_that_is_pushed_from_below(
    goal_post: bool, way: float, build: Any
) -> None:
    env = build("AntPush", goal_post=goal_post).unwrapped
    env.reset(seed=0)
    for _ in range(80):
        env.data.xfrc_applied[1, 1] = 8.0  # less than the ant weighs
        *_, info = env.step(np.zeros(8))
    env.data.xfrc_applied[:] = 0.0
    env.step(np.zeros(8))
    x, y = info["block"]
    assert y - 4.0 == pytest.approx(way, abs=0.1)
    assert x == pytest.approx(0.0, abs=0.03)


def test_nothing_starts_in_the_post_and_the_goal_stays_on_it(build: Any) -> None:
    env = build("AntPush", goal_post=True, random_start=True, random_goal=True).unwrapped
    assert not env.floor_plan.is_free((0.0, 8.0))
    for seed in range(40):
        observation, _ = env.reset(seed=seed)
        assert observation["achieved_goal"][1] < 6.0
        assert observation["desired_goal"][1] < 6.0
    observation, _ = env.reset(options={"goal": (0.0, 8.0)})
    assert observation["desired_goal"].tolist() == [0.0, 8.0]
    with pytest.raises(HessError, match="in a wall"):
        env.reset(options={"start": (0.0, 8.0)})


@pytest.mark.parametrize("force", [3.0, 8.0, 40.0])
@pytest.mark.parametrize(("axis", "sign", "far"), [(0, 1, 4.0), (0, -1, -4.0), (1, 1, 8.0)])
def test_the_block_never_goes_through_a_wall(
    force: float, axis: int, sign: int, far: float, build: Any
) -> None:
    env = build("AntPush").unwrapped
    env.reset(seed=0)
    for _ in range(80):
        env.data.qpos[:2], env.data.qvel[:2] = (0.0, -0.5), 0.0  # out of the way
        env.data.qfrc_applied[14 + axis] = sign * force
        *_, info = env.step(np.zeros(8))
    assert sign * (info["block"][axis] - far) < 0.5  # contacts of so light a body are soft
    env.data.qfrc_applied[:] = 0.0
    for _ in range(10):
        env.data.qpos[:2], env.data.qvel[:2] = (0.0, -0.5), 0.0
        *_, info = env.step(np.zeros(8))
    place = list(info["block"])
    assert place[axis] == pytest.approx(far, abs=0.03)
    assert place[1 - axis] == pytest.approx((0.0, 4.0)[1 - axis], abs=0.03)
