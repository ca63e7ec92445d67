"""The robots' constants, and that each goal can be reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from hess.envs.physics import mujoco

MAZE_WAYS = {
    "AntMaze": [(8, 0), (8, 8), (0, 8)],
    "AntPush": [(-4, 0), (-4, 4), (0, 4), (0, 8)],
    "AntFourRooms": [(4, 2), (8, 2), (12, 3), (12, 9), (14, 14)],
}


def steer(env: Any, waypoints: Sequence[tuple[float, float]]) -> tuple[int, dict[str, Any]]:
    """Turn towards each waypoint, go when it lies ahead."""
    observation, info = env.reset(seed=0)
    steps = 0
    for waypoint in waypoints:
        while math.dist(info["xy"], waypoint) > 1.0:
            cosine, sine = observation["observation"][2:4]
            x, y = np.subtract(waypoint, info["xy"])
            error = math.atan2(cosine * y - sine * x, cosine * x + sine * y)
            action = np.array([math.cos(error) > 0.9, np.clip(error / 0.25, -1, 1)], np.float64)
            observation, _, _, truncated, info = env.step(action)
            steps += 1
            assert not truncated, f"stuck at {info['xy']}"
    return steps, info


@pytest.mark.parametrize("name", ["PointMaze", "PointMazeImages"])
def test_a_scripted_point_solves_its_maze(name: str, build: Any) -> None:
    env = build(name)
    steps, info = steer(env, [(8, 0), (8, 8), (0, 8)])
    assert info["is_success"]
    assert steps < 60


def test_the_point_moves_as_specified(build: Any) -> None:
    env = build("PointMaze").unwrapped
    env.reset(seed=0)
    env._x, env._y, env._heading = 0.0, 0.0, 0.0
    values = env.step(np.array([1.0, 0.0]))[0]["observation"]
    assert values == pytest.approx([1, 0, 1, 0, 1, 0, 0])
    values = env.step(np.array([0.5, 1.0]))[0]["observation"]  # turns 0.25 rad, then goes
    cosine, sine = math.cos(0.25), math.sin(0.25)
    expected = [1 + 0.5 * cosine, 0.5 * sine, cosine, sine, 0.5 * cosine, 0.5 * sine, 0.25]
    assert values == pytest.approx(expected)
    values = env.step(np.array([0.0, 0.0]))[0]["observation"]  # no inertia
    assert values == pytest.approx([*expected[:4], 0, 0, 0])


def test_a_move_into_a_wall_is_undone_but_the_turn_is_not(build: Any) -> None:
    env = build("PointMaze").unwrapped
    env.reset(seed=0)
    env._x, env._y, env._heading = 0.0, -1.5, -math.pi / 2
    values = env.step(np.array([1.0, 0.4]))[0]["observation"]
    angle = -math.pi / 2 + 0.1
    assert values == pytest.approx([0, -1.5, math.cos(angle), math.sin(angle), 0, 0, 0.1])


def test_the_ants_constants(build: Any) -> None:
    model = build("AntMaze").unwrapped.model
    assert model.opt.timestep == 0.02
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    assert (model.nq, model.nv, model.nu) == (15, 14, 8)
    assert model.actuator_ctrlrange.tolist() == [[-16.0, 16.0]] * 8
    assert (model.actuator_gear[:, 0] == 1).all()
    assert model.dof_armature.tolist() == [0.0] * 6 + [1.0] * 8
    assert model.dof_damping.tolist() == [0.0] * 6 + [1.0] * 8
    ranges = np.abs(np.degrees(model.jnt_range[1:]))
    assert np.sort(ranges[::2]) == pytest.approx(np.array([[30, 30]] * 4))
    assert np.sort(ranges[1::2]) == pytest.approx(np.array([[30, 70]] * 4))
    assert model.geom_friction == pytest.approx(np.array([[1, 0.5, 0.5]] * model.ngeom))
    assert (model.geom_margin == 0.005).all()  # twice that in a pair
    assert (model.geom_condim == 3).all()
    assert (model.geom_solref == [0.02, 1.0]).all()
    assert (model.geom_solimp[:, :3] == [0.8, 0.8, 0.01]).all()
    lengths = 0.2 * math.sqrt(2)
    volume = 4 / 3 * math.pi * 0.25**3
    for length in (lengths, lengths, 2 * lengths):  # aux, leg and foot of each of four legs
        volume += 4 * (math.pi * 0.08**2 * length + 4 / 3 * math.pi * 0.08**3)
    assert model.body_mass.sum() == pytest.approx(5.0 * volume)


def test_the_ant_starts_standing_with_noise_on_itself_only(build: Any) -> None:
    env = build("AntPush").unwrapped
    standing = np.array([0, 0, 0.75, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1])
    velocities = []
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        values = observation["observation"]
        joints = np.r_[0:3, 7:15]  # the quaternion has been normalised since
        assert np.abs(values[joints] - standing[joints]).max() <= 0.1
        assert np.linalg.norm(values[3:7]) == pytest.approx(1.0)
        velocities.append(values[15:])
        assert info["block"] == (0.0, 4.0)
        assert not env.data.qvel[14:].any()
    assert np.std(velocities) == pytest.approx(0.1, abs=0.01)


def test_the_ant_does_not_touch_itself(build: Any) -> None:
    env = build("AntMaze").unwrapped
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    own = set(np.flatnonzero(env.model.geom_bodyid > 0))
    for _ in range(50):
        env.step(generator.choice([-1.0, 1.0], 8))
        for contact in env.data.contact:
            assert not {int(contact.geom1), int(contact.geom2)} <= own


@pytest.mark.parametrize("name", MAZE_WAYS)
def test_the_ant_can_get_to_the_goal(name: str, build: Any, drag_ant: Any) -> None:
    env = build(name)
    _, info = env.reset(seed=0)
    assert not info["is_success"]
    assert drag_ant(env, MAZE_WAYS[name])["is_success"]


def test_the_ant_can_get_to_a_goal_with_a_post(build: Any, drag_ant: Any) -> None:
    env = build("AntPush", goal_post=True)
    env.reset(seed=0)
    assert drag_ant(env, [(-4, 0), (-4, 4), (0, 4), (0, 7.1)])["is_success"]


@pytest.mark.parametrize(("name", "size"), [("AntPush", 29), ("AntPushImages", 29 + 75)])
def test_the_block_can_be_observed(name: str, size: int, build: Any, drag_ant: Any) -> None:
    env, usual = build(name, observe_block=True), build(name)
    assert env.observation_space["observation"].shape == (size + 2,)
    observation, info = env.reset(seed=0)
    assert observation["observation"][-2:].tolist() == [0.0, 4.0]
    assert (observation["observation"][:-2] == usual.reset(seed=0)[0]["observation"]).all()
    drag_ant(env, [(-4, 0), (-4, 4), (-1, 4)])
    observation, *_, info = env.step(np.zeros(8))
    assert info["block"][0] > 0.5
    assert observation["observation"][-2:].tolist() == list(info["block"])


def test_the_cheetah_is_gymnasiums(build: Any) -> None:
    path = files("gymnasium") / "envs/mujoco/assets/half_cheetah.xml"
    spec = mujoco.MjSpec.from_string(path.read_text())
    spec.compiler.settotalmass = -1.0
    original = spec.compile()
    mujoco.mj_setTotalmass(original, 14.0)
    for name in ("CheetahHurdle", "CheetahAscending"):
        env = build(name).unwrapped
        model = env.model
        assert model.opt.timestep == 0.01
        assert env.substeps == 5
        assert (model.nq, model.nv, model.nu) == (9, 9, 6)
        bodies = original.nbody
        assert model.body_mass[:bodies] == pytest.approx(original.body_mass)
        assert model.body_inertia[:bodies] == pytest.approx(original.body_inertia)
        assert (model.actuator_gear == original.actuator_gear).all()
        assert (model.dof_damping == original.dof_damping).all()


def test_the_cheetahs_pitch_is_seen_without_its_turns(build: Any) -> None:
    usual, angle = build("CheetahHurdle"), build("CheetahHurdle", pitch="angle")
    for env in (usual, angle):
        env.reset(seed=0)
        env.unwrapped.data.qpos[2] = 7.0  # more than a turn
    unbounded, seen = (env.step(np.zeros(6))[0]["observation"] for env in (angle, usual))
    assert unbounded.shape == (18,)
    assert unbounded[2] > 2 * np.pi
    np.testing.assert_allclose(seen[2:4], [np.cos(unbounded[2]), np.sin(unbounded[2])], rtol=1e-6)
    assert seen[:2].tolist() == unbounded[:2].tolist()
    assert seen[4:].tolist() == unbounded[3:].tolist()


def pull_cheetah(env: Any, lift: Any) -> dict[str, Any]:
    data, goal = env.unwrapped.data, env.unwrapped.floor_plan.goal
    info: dict[str, Any] = {}
    for _ in range(200):
        x, z, pitch = data.qpos[:3]
        height = lift(x)
        data.qfrc_applied[0] = np.clip(60 * (goal[0] - x) - 40 * data.qvel[0], -60, 60)
        data.qfrc_applied[1] = np.clip(137 + 400 * (height - z) - 60 * data.qvel[1], 0, 300)
        data.qfrc_applied[2] = -50 * pitch - 10 * data.qvel[2]
        *_, info = env.step(np.zeros(6))
        if info["is_success"]:
            break
    return info


def test_the_cheetah_can_get_to_its_goals(build: Any) -> None:
    hurdle, hill = build("CheetahHurdle"), build("CheetahAscending")
    for env, lift in (
        (hurdle, lambda x: 0.45 if x < 2.0 else 0.0),
        (hill, lambda x: hill.unwrapped._ground(x + 0.5) + 0.05),
    ):
        env.reset(seed=0)
        assert pull_cheetah(env, lift)["is_success"]


def test_the_hurdle_is_in_the_way_and_the_hill_is_a_hill(build: Any) -> None:
    hurdle, hill = build("CheetahHurdle").unwrapped, build("CheetahAscending").unwrapped
    assert hurdle.floor_plan.walls[0] == pytest.approx(np.array([0.9, 0.0, 1.1, 0.35]))
    assert hurdle.floor_plan.goal == (3.2, 0.0)
    x, z = hill.floor_plan.goal
    assert z == 1.0
    assert ground_below(hill, x) == pytest.approx(1.0)
    assert ground_below(hill, 1.5) == pytest.approx(0.0, abs=1e-6)
    assert ground_below(hill, 2.5) == pytest.approx(math.tan(math.radians(20)))
    assert ground_below(hill, 8.0) == pytest.approx(1.5)
    assert ground_below(hurdle, 1.0) == pytest.approx(0.35)


def test_feet_have_their_own_friction_on_the_floor_and_1_on_the_hill(build: Any) -> None:
    env = build("CheetahAscending").unwrapped
    model, data = env.model, env.data
    limbs = np.flatnonzero(model.geom_bodyid > 0)
    for x, friction in ((0.0, 0.4), (3.5, 1.0), (6.8, 1.0)):
        env.reset(seed=0, options={"start": (x, env._ground(x) + 0.1)})
        seen = []
        for _ in range(40):
            env.step(np.zeros(6))
            touching = np.isin(data.contact.geom, limbs).any(axis=1)
            seen.extend(data.contact.friction[touching, 0])
        assert len(seen) > 20
        assert set(seen) == {friction}


def ground_below(env: Any, x: float) -> float:
    """Height of what a ray from above meets first, away from the robot."""
    env.reset(seed=0)
    touched = np.zeros(1, np.int32)
    start, down = np.array([x, 1.0, 10.0]), np.array([0.0, 0.0, -1.0])
    way = mujoco.mj_ray(env.model, env.data, start, down, None, 1, -1, touched)
    return 10.0 - float(way)
