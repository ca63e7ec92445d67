"""MuJoCo models: a robot's file plus floor, walls, block, lights and the goal mark."""

from __future__ import annotations

from importlib.resources import files

import mujoco

from hess.envs.layouts import Layout

HALF_MARGIN = 0.005  # margins of a pair add up since MuJoCo 3.5; the contact margin is 0.01
SOLIMP = (0.8, 0.8, 0.01, 0.5, 2.0)
SOLIMP_WITH_BLOCK = (0.995, 0.995, 0.01, 0.5, 2.0)
BLOCK_MASS = 0.0002
# The block would touch the corners of its neighbours at rest, and be pushed off by the contact
# margin; this much room on each side lets it stand still exactly where it was put.
BLOCK_CLEARANCE = 0.02
# Robot and block reach out (contype), floor, walls and block are reached (conaffinity): the robot
# does not touch itself. The block's contact with the floor is what brakes it: it has no other
# friction, and without it one touch would let it drift away for good.
REACHES_OUT = 1
IS_REACHED = 1

# The original walls are half a cell high. An ant thrown at a 1 m wall (FourRooms) at 5 m/s, or at a
# 2 m one at 10 m/s, can tumble over it (measured), so ours are higher than any bounce.
WALL_HEIGHT = 20.0
HIDDEN_GROUP = 3  # MuJoCo draws the groups 0 to 2

FLOOR_LIGHT, FLOOR_DARK = (0.93, 0.93, 0.90), (0.86, 0.87, 0.85)
WALL_COLOUR = (0.42, 0.50, 0.62, 1.0)
BLOCK_COLOUR = (0.80, 0.28, 0.27, 1.0)
GOAL_COLOUR = (0.16, 0.68, 0.38, 0.75)
PICTURE_LIMIT = 1920  # largest side of a rendered picture, in pixels


def maze_model(layout: Layout, robot: str) -> mujoco.MjModel:
    """Compile the model of a robot in a maze."""
    spec = mujoco.MjSpec.from_string((files("hess.envs") / f"assets/{robot}.xml").read_text())
    add_scenery(spec)
    _add_floor(spec, layout)
    for xmin, ymin, xmax, ymax in layout.walls:
        # All in the world body: a body for each wall makes a step a quarter slower (measured).
        centre = (xmin + xmax) / 2, (ymin + ymax) / 2
        half_size = (xmax - xmin) / 2, (ymax - ymin) / 2
        _add_tall_box(spec.worldbody, centre, half_size, layout.cell / 2, WALL_COLOUR)
    if layout.block is not None:
        _add_block(spec, layout)
    add_goal(spec, (*layout.goal, 0.02))
    for geom in spec.geoms:
        geom.condim, geom.friction, geom.margin = 3, (1.0, 0.5, 0.5), HALF_MARGIN
        geom.solref = (0.02, 1.0)
        geom.solimp = SOLIMP if layout.block is None else SOLIMP_WITH_BLOCK
    return spec.compile()


def _add_tall_box(
    body: mujoco.MjsBody,
    centre: tuple[float, float],
    half_size: tuple[float, float],
    drawn_height: float,
    colour: tuple[float, float, float, float],
) -> mujoco.MjsGeom:
    """A box higher than any robot could jump, drawn half a cell high so that one can look in."""
    body.add_site(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[*centre, drawn_height / 2],
        size=[*half_size, drawn_height / 2],
        rgba=colour,
    )
    return body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[*centre, WALL_HEIGHT / 2],
        size=[*half_size, WALL_HEIGHT / 2],
        contype=0,
        conaffinity=IS_REACHED,
        group=HIDDEN_GROUP,
    )


def _add_floor(spec: mujoco.MjSpec, layout: Layout) -> None:
    xmin, ymin, xmax, ymax = layout.extent
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=[(xmin + xmax) / 2, (ymin + ymax) / 2, 0.0],
        size=[(xmax - xmin) / 2, (ymax - ymin) / 2, 1.0],
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
    geom = _add_tall_box(body, (0.0, 0.0), (half, half), layout.cell / 2, BLOCK_COLOUR)
    geom.name, geom.mass, geom.contype = "block", BLOCK_MASS, REACHES_OUT


def add_goal(spec: mujoco.MjSpec, position: tuple[float, float, float]) -> None:
    """The goal is a site: visible, never touched. Its body is mocap so that a goal can move."""
    body = spec.worldbody.add_body(name="goal", mocap=True, pos=position)
    body.add_site(
        name="goal",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[0.6, 0.02, 0.0],
        rgba=GOAL_COLOUR,
    )
    body.add_site(
        name="goal_flag",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        pos=[0.0, 0.0, 0.9],
        size=[0.3, 0.0, 0.0],
        rgba=GOAL_COLOUR,
    )


def add_scenery(spec: mujoco.MjSpec) -> None:
    """Sky, floor pattern, lights and the size of the picture buffer; nothing physical."""
    spec.visual.global_.offwidth = spec.visual.global_.offheight = PICTURE_LIMIT
    spec.visual.headlight.ambient = (0.45, 0.45, 0.45)
    spec.visual.headlight.diffuse = (0.35, 0.35, 0.35)
    spec.visual.headlight.specular = (0.0, 0.0, 0.0)
    spec.visual.quality.shadowsize = 4096
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(1.0, 1.0, 1.0),
        rgb2=(0.85, 0.90, 0.96),
        width=64,
        height=64,
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
        pos=[4.0, 4.0, 20.0],
        dir=[0.25, 0.35, -1.0],
        diffuse=(0.5, 0.5, 0.5),
        specular=(0.1, 0.1, 0.1),
        castshadow=True,
    )
