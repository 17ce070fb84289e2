"""Every section of a configuration, and every key of those that pose the scene, as peers see them.

A test compares the tables with `loom describe`: a new section or key needs a place here."""

from __future__ import annotations

# Sections with keys that are told apart in KEYS.
BY_KEY = ("run", "cloth", "body", "pin")
# Of loom's own method, or of its output: no part of the problem.
OWN = ("exec", "stop", "detect", "filter", "log", "solver", "collision")
# {section: need}: present, it asks for it.  Contact is asked in detail: `loomcloth.peer.needs`.
NEEDS = {
    "solid": "solids", "yarn": "yarns", "wind": "wind", "pressure": "pressure", "friction": "pair_friction",
    "dress": "dress", "contact": "self_contact", "region": "regions",
    "ignore": "ignored_parts", "attach": "attachments", "twist": "imposed_twist",
}  # fmt: skip
# {section: {"posed": keys that reach an adapter in arrays and numbers of the scene,
#            "own": keys of loom's own method, NEED: keys that ask for it}}
KEYS = {
    "run": {
        "posed": "steps dt substeps start_log start_frame up_axis detail",
        "own": "seed start guess forwarding forwarding_iters forwarding_below replay replay_first replay_state",
        "gravity": "gravity",
    },
    "cloth": {
        "posed": "shape size resolution pattern file edge_length uv_scale repair merge_tolerance thickness "
                 "membrane k_b k0 k1 k2 k3 k_e k_spring k_cross young poisson material pins transform "
                 "imperfection_seed",
        "start": "positions imperfection",
        "rest_shape": "rest rest_file",
        "stitches": "sewing stitches stitch_stiffness sewing_time seam_rings",
        "mass": "density",
        "model": "model stretch_rest stretch_0 stretch_22 stretch_45 stretch_67 stretch_90 bend_0 bend_5 "
                 "bend_10 bend_15 bend_20 bending bending_poisson bending_warp bending_weft bending_bias "
                 "bending_yield bending_hardening",
        "strain_limit": "limit limit_tension strain_limit strain_limit_min strain_stiffness",
        "velocities": "velocity velocities",
        "damping": "damping",
        "stiffness_damping": "stiffness_damping",
        "soft_pins": "pin_stiffness",
        "moving_pins": "pin_motion",
    },
    "body": {
        "posed": "position rotation normal radius",
        "own": "distance gradient networks regions repair sdf_resolution sdf_padding",
        "bodies": "shape length size ring_radius tube_radius file mesh_size profile scale copies "
                  "copy_spacing copy_jitter rig edge_length angles",
        "friction": "friction",
        "thick_bodies": "thickness",
        "moving_bodies": "motion keyframes keyframe_file frames animation animation_file "
                         "animation_start animation_ease animation_speed animation_loop frame_first "
                         "frame_count frame_rate mass velocity spin",
    },
    "pin": {
        "posed": "object where",
        "soft_pins": "stiffness",
        "moving_pins": "motion keyframes keyframe_file body joint",
        "released_pins": "hold_from hold_until",
    },
}  # fmt: skip


def is_known(section: str) -> bool:
    """Whether a section, for example pressure.inside, has a place in the tables."""
    kind = section.split(".")[0]
    return kind in BY_KEY or kind in OWN or kind in NEEDS
