"""A scene of a log, and the things in it that a simulator may be unable to pose."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from loomcloth.errors import LogError
from loomcloth.log import Log
from loomcloth.peer import blocks
from loomcloth.peer.adapter import Body, Peer, Scene

# Things that a scene may ask for, as --differ names them.
NAMES = {
    "mass": "a mass for every vertex",
    "start": "a start apart from the shape at rest",
    "velocities": "velocities at the start",
    "gravity": "gravity of another direction or size than (0, 0, -9.81) m/s^2",
    "damping": "velocities that decay",
    "stiffness_damping": "damping by the stiffness",
    "friction": "Coulomb friction",
    "pair_friction": "friction of named pairs of objects",
    "bodies": "a body of this kind",
    "moving_bodies": "bodies that move",
    "thick_bodies": "a layer around a body",
    "self_contact": "contact of cloth with cloth",
    "self_friction": "friction of cloth on cloth",
    "adhesion": "contact that pulls",
    "objects": "several objects",
    "solids": "solids",
    "yarns": "yarns",
    "wind": "wind",
    "pressure": "pressure of gas on cloth",
    "moving_pins": "pins that move",
    "released_pins": "pins that begin to hold or are released",
    "dress": "gravity and motions that begin later",
    "attachments": "vertices that are tied to another object",
    "imposed_twist": "yarns that are twisted",
    "ignored_parts": "parts of bodies that cloth ignores for a time",
    "soft_pins": "pins that are springs",
    "stitches": "seams and stitches",
    "rest_shape": "triangles with a shape at rest of their own",
    "regions": "parts of a cloth with a material of their own",
    "strain_limit": "a limit of the stretch",
    "model": "the energy",
    "unknown": "a part of the configuration that `loom peer` does not know",
}
# Short words of [cloth.NAME] model, and the element types that they mean.
WORDS = {
    "arap": "tri_arap", "stvk": "tri_stvk", "isometric": "hinge_isometric", "shell": "hinge_shell",
    "springs": "spring", "neohookean": "tri_neohookean", "wang": "tri_wang", "wang_bend": "hinge_wang",
}  # fmt: skip
Ask = Callable[[str, str], None]  # of a need and of the key that asks for it
DOWN = {"x": (-9.81, 0.0, 0.0), "y": (0.0, -9.81, 0.0), "z": (0.0, 0.0, -9.81)}


def _sections(settings: dict[str, str], kind: str) -> list[str]:
    names = dict.fromkeys(k.rsplit(".", 1)[0] for k in settings)
    return [n for n in names if n == kind or n.startswith(f"{kind}.")]


def _has_pairs(settings: dict[str, str], word: str) -> bool:
    """Whether some contact model has pairs of this kind."""
    return any(
        settings.get(f"{c}.plugin", "none") != "none" and settings.get(f"{c}.pairs", "all") in (word, "all")
        for c in _sections(settings, "contact")
    )


def gravity_of(settings: dict[str, str]) -> tuple[float, ...]:
    words = settings.get("run.gravity", "auto")
    if words == "auto":
        return DOWN[settings.get("run.up_axis", "z")]
    return tuple(float(w) for w in words.split())


def read(path: str | os.PathLike[str]) -> tuple[Scene, dict[str, str]]:
    """The scene of a log and {need: the key of the configuration that asks for it, with its value}."""
    with Log(path) as log:
        settings = log.settings
        cloths = _sections(settings, "cloth")
        if not cloths:
            raise LogError("the configuration has no [cloth.NAME]: peers simulate cloth")
        first = f"{cloths[0]}."
        keys = {k.removeprefix(first): v for k, v in settings.items() if k.startswith(first)}
        parts = int(settings["run.substeps"])
        touches = _has_pairs(settings, "obstacle")
        arrays = {k: np.asarray(log.scene(k)) for k in ("rest", "triangles", "mass", "pinned", "radius")}
        scene = Scene(
            x=log.frame(0), v=log.velocity(0), h=float(settings["run.dt"]) / parts,
            steps=int(settings["run.steps"]) * parts, parts=parts,
            gravity=list(gravity_of(settings)), keys=keys,
            model=[WORDS.get(w.strip(), w.strip()) for w in keys["model"].split("+")],
            bodies=[
                Body(o.name, o.kind, o.shape.tolist(), o.pose[0, :9].tolist(), o.pose[0, 9:].tolist(),
                     float(o.data.get("friction", 0)))
                for o in log.obstacles() if touches
            ],
            self_contact=_has_pairs(settings, "self"),
            **arrays,
        )  # fmt: skip
        scene.pinned = scene.pinned != 0
        found = _of_keys(settings, cloths, touches) | _of_arrays(scene, log, cloths[0])
        return scene, {n: found[n] for n in NAMES if n in found}


def _of_keys(settings: dict[str, str], cloths: list[str], touches: bool) -> dict[str, str]:
    """Needs that keys of the configuration tell."""
    found: dict[str, str] = {}

    def ask(need: str, key: str) -> None:
        found.setdefault(need, f"{key} = {settings[key]}" if key in settings else f"[{key}]")

    if len(cloths) > 1:
        ask("objects", cloths[1])
    for section in dict.fromkeys(k.rsplit(".", 1)[0] for k in settings):
        kind = section.split(".")[0]
        if not blocks.is_known(section):
            ask("unknown", section)
        elif kind in blocks.NEEDS and kind != "contact":
            ask(blocks.NEEDS[kind], section)
    for cloth in cloths:
        for key in ("damping", "stiffness_damping"):
            if float(settings[f"{cloth}.{key}"]) > 0:
                ask(key, f"{cloth}.{key}")
        if settings[f"{cloth}.pins"] != "none":
            _of_pins(settings, cloth, "pin_stiffness", "pin_motion", ask)
        if "neohookean" in settings[f"{cloth}.model"] and float(settings[f"{cloth}.limit_tension"]) > 0:
            ask("strain_limit", f"{cloth}.limit_tension")
        for key in ("strain_limit", "strain_limit_min"):
            if float(settings[f"{cloth}.{key}"]) > 0:
                ask("strain_limit", f"{cloth}.{key}")
    for pin in _sections(settings, "pin"):
        _of_pins(settings, pin, "stiffness", "motion", ask)
    for body in _sections(settings, "body") if touches else []:
        if settings[f"{body}.motion"] != "hold":
            ask("moving_bodies", f"{body}.motion")
        for key in ("animation", "animation_file"):
            if settings.get(f"{body}.{key}"):
                ask("moving_bodies", f"{body}.{key}")
        if float(settings[f"{body}.thickness"]) > 0:
            ask("thick_bodies", f"{body}.thickness")
        if float(settings[f"{body}.mass"]) > 0:
            ask("moving_bodies", f"{body}.mass")
        if float(settings[f"{body}.friction"]) > 0:
            ask("friction", f"{body}.friction")
    for contact in _sections(settings, "contact"):
        if float(settings.get(f"{contact}.adhesion", "0")) > 0:
            ask("adhesion", f"{contact}.adhesion")
        if _has_pairs({k: v for k, v in settings.items() if k.startswith(f"{contact}.")}, "self"):
            ask("self_contact", f"{contact}.pairs")
            if float(settings.get(f"{contact}.self_friction", "0")) > 0:
                ask("self_friction", f"{contact}.self_friction")
    return found


def _of_pins(settings: dict[str, str], section: str, stiffness: str, motion: str, ask: Ask) -> None:
    if float(settings[f"{section}.{stiffness}"]) > 0:
        ask("soft_pins", f"{section}.{stiffness}")
    if settings[f"{section}.{motion}"] != "hold":
        ask("moving_pins", f"{section}.{motion}")
    needs = {"body": "moving_pins", "hold_from": "released_pins", "hold_until": "released_pins"}
    for key, need in needs.items():
        if settings.get(f"{section}.{key}", "") not in ("", "0"):
            ask(need, f"{section}.{key}")


def _area(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (p[triangles[:, k]] for k in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def _of_arrays(scene: Scene, log: Log, cloth: str) -> dict[str, str]:
    """Needs that meshes and the state at the start tell."""
    found = {}
    free = ~scene.pinned
    extent = max(float(np.ptp(scene.rest, axis=0).max()), 1e-12)
    if np.ptp(scene.mass) > 1e-9 * scene.mass.max():
        found["mass"] = f"{cloth}.density = {scene.keys['density']}, masses of {scene.mass.min():.3g} to " \
                        f"{scene.mass.max():.3g} kg"  # fmt: skip
    if np.abs(scene.x - scene.rest).max() > 1e-12 * extent:
        found["start"] = f"{cloth}: starts {np.abs(scene.x - scene.rest).max():.3g} m from its shape at rest"
    if np.abs(scene.v[free]).max(initial=0) > 0:
        found["velocities"] = f"{cloth}.velocity = {scene.keys['velocity']}"
    if not np.allclose(scene.gravity, DOWN["z"], atol=1e-12):
        found["gravity"] = f"run.gravity = {' '.join(f'{g:g}' for g in scene.gravity)}"
    if log.has("scene/stitches/vertices"):
        found["stitches"] = f"{cloth}.sewing = {scene.keys['sewing']}"
    if log.has("scene/material/area"):
        own = np.asarray(log.scene("material/area"))
        if not np.allclose(own, _area(scene.rest, scene.triangles), rtol=1e-9):
            found["rest_shape"] = f"{cloth}.rest = {scene.keys['rest']}"
    return found


def follow_pins(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Takes the way of the pinned vertices from a log with a frame for every step."""
    with Log(path) as log:
        scene.pin_path = np.array([log.frame(k)[scene.pinned] for k in range(log.num_frames)])


def contacts_of(path: str | os.PathLike[str]) -> list[str]:
    """Names of the sections of contact models of a log, for example contact.all."""
    with Log(path) as log:
        return _sections(log.settings, "contact")


def lacking(peer: Peer, scene: Scene, needs: dict[str, str]) -> dict[str, str]:
    """The needs that the peer cannot pose, with key and value; bodies and the model are asked in detail."""
    out = {n: key for n, key in needs.items() if n not in peer.can}
    strange = [b for b in scene.bodies if b.kind not in peer.bodies]
    if strange:
        out["bodies"] = f"body.{strange[0].name}.shape = {strange[0].kind}"
    try:
        energy, why = peer.energy(scene), ""
    except ValueError as error:
        energy, why = "", f" ({error})"
    mapped = 2  # a membrane and bending
    if energy and len(scene.model) > mapped and set(scene.model) != set(energy.split("+")):
        energy, why = "", " (more than a membrane and bending)"
    if not energy:
        out["model"] = f"model = {scene.keys['model']}{why}"
    return out


def kind_of(peer: Peer, scene: Scene, lacks: dict[str, str], settings: dict[str, object]) -> str:
    """The kind of the row: `same problem`, `same scene` or `other model`."""
    if lacks:
        return "other model"
    same = set(peer.energy(scene).split("+")) == set(scene.model)
    one = settings.get("substeps", 1) == 1
    touches = scene.bodies or scene.self_contact
    return "same problem" if same and one and not touches else "same scene"
