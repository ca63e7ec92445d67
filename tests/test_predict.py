"""A trained agent in loops that are not ours: `predict` as Stable-Baselines3 calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import hess
from hess.agents.playing import split_batch
from hess.analysis import video
from hess.api import LoadedAgent, TrainedRun
from hess.cli import main
from hess.config import Config
from hess.envs.spaces import Observer
from hess.errors import HessError
from tests.training.strange_tasks import RICH, RICH_HORIZON
from tests.training.stub import TINY

INTERVAL = 5
FIELDS: dict[str, Any] = {
    name.replace(".", "__"): value for name, value in TINY.items() if name not in ("task", "method")
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    fields = FIELDS | {"steps": 80, "capacity": 200, "subgoal_interval": INTERVAL}
    return hess.train(RICH, runs=tmp_path_factory.mktemp("runs"), **fields)


@pytest.fixture
def agent(run: TrainedRun) -> LoadedAgent:
    return hess.load(run.path)


def play(agent: LoadedAgent, seed: int, steps: int = RICH_HORIZON) -> list[Any]:
    """One episode in a loop of one's own."""
    env = gymnasium.make(RICH)
    observation, _ = env.reset(seed=seed)
    state, start, actions = None, True, []
    for _ in range(steps):
        action, state = agent.predict(observation, state, start)
        assert env.action_space.contains(action)
        observation, *_ = env.step(action)
        actions.append(action)
        start = False
    env.close()
    return actions


def test_it_acts_as_evaluation_does(agent: LoadedAgent) -> None:
    (episode,) = agent.evaluate(1, seed=3).episodes
    env = gymnasium.make(RICH)
    task_seed = np.random.SeedSequence(3, spawn_key=(1, agent.step, 0))
    observation, _ = env.reset(seed=int(task_seed.generate_state(1)[0]))
    state = None
    for step in range(RICH_HORIZON):
        action, state = agent.predict(observation, state)
        expected = [1.0, -200.0] + np.array([1.0, 300.0]) * episode.actions[step]
        np.testing.assert_allclose(action, expected, rtol=1e-5)
        observation, *_ = env.step(action)


def test_several_environments_act_as_each_would_alone(agent: LoadedAgent) -> None:
    envs = gymnasium.make_vec(RICH, num_envs=3, vectorization_mode="sync")
    seeds: Any = [4, 5, 6]
    observations, _ = envs.reset(seed=seeds)
    state, together = None, []
    for _ in range(RICH_HORIZON - 1):
        actions, state = agent.predict(observations, state)
        assert actions.shape == (3, 2)
        observations, *_ = envs.step(actions)
        together.append(actions)
    envs.close()
    for index, seed in enumerate((4, 5, 6)):
        alone = play(agent, seed, RICH_HORIZON - 1)
        np.testing.assert_allclose([each[index] for each in together], alone, rtol=1e-5)


def test_an_environment_that_starts_again_gets_a_new_subgoal_and_others_keep_theirs(
    agent: LoadedAgent,
) -> None:
    rng = np.random.default_rng(0)
    space: Any = gymnasium.make(RICH).observation_space
    seen = {key: rng.uniform(0, 1, (2, *part.shape)) for key, part in space.items()}
    _, state = agent.predict(seen)
    for _ in range(2):
        _, state = agent.predict(seen, state, np.array([False, False]))
    _, state = agent.predict(seen, state, np.array([True, False]))
    assert [each.time for each in state] == [1, 4]


def test_a_tuple_of_several_environments_is_taken_apart() -> None:
    space = spaces.Tuple((spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(3)))
    observer = Observer(space)
    one = (np.array([0.5, -0.5], np.float32), 2)
    several = (np.array([[0.5, -0.5], [0.1, 0.2]], np.float32), np.array([2, 0]))
    assert [observer.is_batch(each) for each in (one, several)] == [False, True]
    flat = [observer(each).observation.tolist() for each in split_batch(several)]
    assert flat[0] == observer(one).observation.tolist()
    np.testing.assert_allclose(flat[1], [0.1, 0.2, 1, 0, 0], rtol=1e-6)


def test_a_random_policy_differs_from_call_to_call(agent: LoadedAgent) -> None:
    observation, _ = gymnasium.make(RICH).reset(seed=0)
    fixed = [agent.predict(observation)[0] for _ in range(2)]
    drawn = [agent.predict(observation, deterministic=False)[0] for _ in range(2)]
    assert np.array_equal(fixed[0], fixed[1])
    assert not np.array_equal(drawn[0], drawn[1])


def test_misuse_is_named(agent: LoadedAgent) -> None:
    observation, _ = gymnasium.make(RICH).reset(seed=0)
    with pytest.raises(HessError, match="state must be what the last predict"):
        agent.predict(observation, state=(np.zeros(3),))  # type: ignore[arg-type]
    with pytest.raises(HessError, match="episode_start has 2 values for 1 environments"):
        agent.predict(observation, episode_start=[True, False])
    state = None
    for _ in range(RICH_HORIZON):
        _, state = agent.predict(observation, state)
    with pytest.raises(HessError, match=r"over after 23 steps; .*episode_start"):
        agent.predict(observation, state)


def test_stable_baselines3_evaluates_our_agents(agent: LoadedAgent) -> None:
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    from stable_baselines3.common.vec_env import DummyVecEnv

    one = gymnasium.make(RICH)
    lengths = evaluation.evaluate_policy(agent, one, 3, warn=False, return_episode_rewards=True)[1]
    assert lengths == [RICH_HORIZON] * 3
    several = DummyVecEnv([lambda: gymnasium.make(RICH)] * 2)
    rewards, lengths = evaluation.evaluate_policy(
        agent, several, 4, warn=False, return_episode_rewards=True
    )
    assert lengths == [RICH_HORIZON] * 4
    assert len(rewards) == 4


def test_other_arguments_and_rules_can_be_evaluated(run: TrainedRun, agent: LoadedAgent) -> None:
    everywhere = hess.evaluate(run.path, 2, env={"reach": 1000.0})
    assert (everywhere.success_rate, everywhere.success_at_end) == (1.0, 1.0)
    assert agent.evaluate(2, success="reward>=5").success_rate == 0.0
    with pytest.raises(HessError, match="did you mean 'reach'"):
        agent.evaluate(2, env={"raech": 1})


def test_the_command_line_evaluates_and_films_with_other_arguments(
    run: TrainedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    filmed: list[Config] = []
    monkeypatch.setattr(video, "record_video", lambda *given: filmed.append(given[-1]))
    flags = ["--episodes", "2", "--env", "reach=1000.0", "--success", "reward>=0.5"]
    assert main(["evaluate", str(run.path), *flags, "--video", str(tmp_path / "film.gif")]) == 0
    assert "success rate 1.00 (1.00 at the last step)" in capsys.readouterr().out
    assert [(each.env, each.success) for each in filmed] == [(("reach=1000.0",), "reward>=0.5")]


def test_the_arguments_name_the_run_and_guard_its_resume(tmp_path: Path) -> None:
    fields = FIELDS | {"steps": 20, "capacity": 200, "runs": tmp_path}
    run = hess.train(RICH, "sac", env={"reach": 0.5}, **fields)
    assert run.path == tmp_path / "HessTests-Rich" / "sac" / "reach=0.5,seed-0"
    again = hess.train(RICH, "sac", env={"reach": 0.5}, **fields)
    assert again.result == run.result
    with pytest.raises(HessError, match=r"another config \(env: .*reach=0.5.* -> .*reach=0.7"):
        hess.train(RICH, "sac", env={"reach": 0.7}, name=run.path.name, **fields)
