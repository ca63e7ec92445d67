"""MuJoCo models: a robot's file plus floor, walls, block, lights and the goal mark."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from hess.envs.layouts import Layout, Rectangle
from hess.envs.physics import mujoco

HALF_MARGIN = 0.005  # margins of a pair add up since MuJoCo 3.5; the contact margin is 0.01
SOLIMP = (0.8, 0.8, 0.01, 0.5, 2.0)
SOLIMP_WITH_BLOCK = (0.995, 0.995, 0.01, 0.5, 2.0)
BLOCK_MASS = 0.0002
# The block would touch the corners of its neighbours at rest, and be pushed off by the contact
# margin; this much room on each side lets it stand still exactly where it was put.
BLOCK_CLEARANCE = 0.02
POST_WIDTH, POST_HEIGHT = 0.8, 2.0  # on the goal of AntPush, in the authors' released environment
POST_ALPHA = 0.5  # to see the goal's mark in it
# Robot and block reach out (contype), floor, walls and block are reached (conaffinity): the robot
# does not touch itself. The block's contact with the floor is what brakes it: it has no other
# friction, and without it one touch would let it drift away for good.
REACHES_OUT = 1
IS_REACHED = 1

# The original walls are half a cell high. An ant thrown at a 1 m wall (FourRooms) at 5 m/s, or at a
# 2 m one at 10 m/s, can tumble over it (measured), so ours are higher than any bounce.
WALL_HEIGHT = 20.0
HIDDEN_GROUP = 3  # MuJoCo draws the groups 0 to 2

FLOOR_LIGHT, FLOOR_DARK = (0.90, 0.89, 0.86), (0.83, 0.82, 0.79)
WALL_COLOUR = (0.44, 0.53, 0.66, 1.0)
BLOCK_COLOUR = (0.82, 0.30, 0.26, 1.0)
GOAL_COLOUR = (0.10, 0.62, 0.36)
PICTURE_LIMIT = 1280  # largest side of a picture, in pixels


def maze_model(layout: Layout, robot: str, goal_post: bool = False) -> mujoco.MjModel:
    """Compile the model of a robot in a maze."""
    spec = mujoco.MjSpec.from_string((files("hess.envs") / f"assets/{robot}.xml").read_text())
    xmin, ymin, xmax, ymax = layout.interior
    middle = (xmin + xmax) / 2, (ymin + ymax) / 2, 0.0
    add_scenery(spec, middle, extent=max(xmax - xmin, ymax - ymin) / 2 + layout.cell / 4)
    _add_floor(spec, layout)
    _add_walls(spec.worldbody, layout)
    if layout.block is not None:
        _add_block(spec, layout)
    add_goal(spec, (*layout.goal, 0.0))
    if goal_post:
        _add_post(spec.worldbody, layout)
    for geom in spec.geoms:
        geom.condim, geom.friction, geom.margin = 3, (1.0, 0.5, 0.5), HALF_MARGIN
        geom.solref = (0.02, 1.0)
        geom.solimp = SOLIMP if layout.block is None else SOLIMP_WITH_BLOCK
    return spec.compile()


def _add_walls(world: mujoco.MjsBody, layout: Layout) -> None:
    """Boxes inside, one plane for each side of the map: cheaper to test than a box with one face.

    All in the world body: a body for each wall makes a step a quarter slower (measured).
    """
    xmin, ymin, xmax, ymax = layout.interior
    for position, inwards in (
        ((xmin, ymin), (1, 0)),
        ((xmin, ymin), (0, 1)),
        ((xmax, ymax), (-1, 0)),
        ((xmax, ymax), (0, -1)),
    ):
        add_outer_wall(world, position, inwards)
    for wall in layout.walls:
        _draw_box(world, wall, layout, WALL_COLOUR)
    # MuJoCo pushes what is inside a box out of its nearest face. In a corner that must not be one
    # behind the next wall: an ant thrown there at 50 m/s stayed inside for good (measured).
    for wall in layout.deep_walls:
        if _overlap(wall, layout.interior):
            _add_tall_box(world, wall)


def add_outer_wall(
    world: mujoco.MjsBody, position: tuple[float, float], inwards: tuple[int, int]
) -> None:
    """Solid from here outwards, at every height."""
    quaternion = np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, np.array([*inwards, 0.0]))
    world.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[*position, 0.0],
        quat=quaternion,
        size=[1.0, 1.0, 1.0],  # would be drawn so far; the plane has no end
        contype=0,
        conaffinity=IS_REACHED,
        group=HIDDEN_GROUP,
    )


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _draw_box(
    body: mujoco.MjsBody,
    box: Rectangle,
    layout: Layout,
    colour: tuple[float, float, float, float],
) -> None:
    """Low, and without most of what lies outside of the map, to look inside."""
    body.add_site(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        rgba=colour,
        **_box(_without_outside(box, layout), layout.cell / 4),
    )


def _add_tall_box(body: mujoco.MjsBody, box: Rectangle) -> mujoco.MjsGeom:
    """A box higher than any robot could jump, not drawn."""
    return body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        contype=0,
        conaffinity=IS_REACHED,
        group=HIDDEN_GROUP,
        **_box(box, WALL_HEIGHT),
    )


def _box(box: Rectangle, height: float) -> dict[str, list[float]]:
    xmin, ymin, xmax, ymax = box
    return {
        "pos": [(xmin + xmax) / 2, (ymin + ymax) / 2, height / 2],
        "size": [(xmax - xmin) / 2, (ymax - ymin) / 2, height / 2],
    }


def _without_outside(box: Rectangle, layout: Layout) -> Rectangle:
    rim = layout.cell / 8
    left, low, right, high = layout.interior
    xmin, ymin, xmax, ymax = box
    return (
        max(xmin, left - rim),
        max(ymin, low - rim),
        min(xmax, right + rim),
        min(ymax, high + rim),
    )


def _add_floor(spec: mujoco.MjSpec, layout: Layout) -> None:
    xmin, ymin, xmax, ymax = _without_outside(layout.extent, layout)
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[(xmin + xmax) / 2, (ymin + ymax) / 2, 0.0],
        size=[(xmax - xmin) / 2, (ymax - ymin) / 2, 1.0],  # only drawn so far: a plane has no end
        contype=0,
        conaffinity=IS_REACHED,
        material="floor",
    )


def _add_block(spec: mujoco.MjSpec, layout: Layout) -> None:
    assert layout.block is not None
    half = layout.cell / 2 - BLOCK_CLEARANCE
    body = spec.worldbody.add_body(name="block", pos=[*layout.block, 0.0])
    for name, axis in (("block_x", (1, 0, 0)), ("block_y", (0, 1, 0))):
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    box = (-half, -half, half, half)
    _draw_box(body, box, layout, BLOCK_COLOUR)
    geom = _add_tall_box(body, box)
    geom.name, geom.mass, geom.contype = "block", BLOCK_MASS, REACHES_OUT


def post(layout: Layout) -> Rectangle:
    """The ground that a post on the goal stands on."""
    (x, y), half = layout.goal, POST_WIDTH / 2
    return x - half, y - half, x + half, y + half


def _add_post(world: mujoco.MjsBody, layout: Layout) -> None:
    world.add_geom(
        name="post",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        contype=0,
        conaffinity=IS_REACHED,
        rgba=(*GOAL_COLOUR, POST_ALPHA),
        **_box(post(layout), POST_HEIGHT),
    )


def add_goal(spec: mujoco.MjSpec, position: tuple[float, float, float]) -> None:
    """The goal is a few sites: visible, never touched. Its body is mocap so that it can move."""
    body = spec.worldbody.add_body(name="goal", mocap=True, pos=position)
    for name, shape, height, size, alpha in (
        ("goal", mujoco.mjtGeom.mjGEOM_SPHERE, 0.75, [0.3, 0.0, 0.0], 1.0),
        ("goal_pole", mujoco.mjtGeom.mjGEOM_CYLINDER, 0.375, [0.05, 0.375, 0.0], 1.0),
        ("goal_disc", mujoco.mjtGeom.mjGEOM_CYLINDER, 0.02, [0.8, 0.015, 0.0], 0.6),
    ):
        body.add_site(
            name=name, type=shape, pos=[0.0, 0.0, height], size=size, rgba=(*GOAL_COLOUR, alpha)
        )


def add_scenery(spec: mujoco.MjSpec, middle: tuple[float, float, float], extent: float) -> None:
    """Sky, floor pattern, light and the size of the picture buffer; nothing physical."""
    # MuJoCo would measure the scene with its far too high walls, and blur the shadows.
    spec.stat.center, spec.stat.extent = middle, extent
    spec.visual.global_.offwidth = spec.visual.global_.offheight = PICTURE_LIMIT
    spec.visual.map.shadowclip = 2.0
    spec.visual.quality.shadowsize = 2048
    spec.visual.headlight.ambient = (0.35, 0.35, 0.35)
    spec.visual.headlight.diffuse = (0.30, 0.30, 0.30)
    spec.visual.headlight.specular = (0.0, 0.0, 0.0)
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=(1.0, 1.0, 1.0),
        rgb2=(1.0, 1.0, 1.0),
        width=32,
        height=32,
    )
    spec.add_texture(
        name="floor",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=FLOOR_LIGHT,
        rgb2=FLOOR_DARK,
        width=128,
        height=128,
    )
    material = spec.add_material(name="floor", texuniform=True, texrepeat=[0.5, 0.5])
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        # Shadows are sharp around the light's axis only, so that has to go through the middle.
        pos=[middle[0] - 0.6 * extent, middle[1] - 0.8 * extent, middle[2] + 2.0 * extent],
        dir=[0.3, 0.4, -1.0],
        diffuse=(0.45, 0.45, 0.45),
        specular=(0.0, 0.0, 0.0),
        castshadow=True,
    )
