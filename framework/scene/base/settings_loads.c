/* settings_loads.c - the parameter tables of [pressure.*], [friction.*], [attach.*], [twist.*],
 * [dress], [region.*] and [ignore.*]. */
#include <float.h>

#include "loom/plugin.h"
#include "scene/base/settings.h"

const loom_param scene_pressure_params[SCENE_PRESSURE_PARAMS] = {
    LOOM_PARAM_TEXT(pressure_settings, object, "", "Name of the cloth."),
    LOOM_PARAM_ENUM(pressure_settings, law, PRESSURE_CONSTANT, "constant|gas",
                    "constant: on open and closed cloth; gas: of constant temperature in closed "
                    "cloth, (pressure + outside) times the volume stays the same."),
    LOOM_PARAM_REAL(pressure_settings, pressure, 0, -1e9, 1e9, "Pa",
                    "Above the pressure of the other side; gas: in `volume`.  It acts out of "
                    "closed cloth, and along the normals of the triangles of open cloth."),
    LOOM_PARAM_REAL(pressure_settings, outside, 0, 0, 1e9, "Pa",
                    "Pressure around the cloth; air has 101325 (ISO 2533) and makes gas so stiff "
                    "that dt may have to be short.",
                    0, "law = gas"),
    LOOM_PARAM_REAL(pressure_settings, volume, 0, 0, 1e9, "m^3",
                    "Volume in which the gas has `pressure`; 0: that of the start.", 0,
                    "law = gas"),
    LOOM_PARAM_REAL(pressure_settings, rise, 0, 0, 1e9, "s",
                    "Time from the start on in which `pressure` grows from 0.")};

const loom_param scene_friction_params[SCENE_FRICTION_PARAMS] = {
    LOOM_PARAM_TEXT(friction_settings, between, "",
                    "A, B: two objects, one object twice (its friction on itself), or an object "
                    "and a body, as cloth.sheet, body.ball; body.NAME stands for all copies."),
    LOOM_PARAM_REAL(friction_settings, mu, 0, 0, 10, "1",
                    "Coulomb coefficient of the pair, in place of the body's `friction` and the "
                    "contact model's self_friction; it has to be given.")};

const loom_param scene_attach_params[SCENE_ATTACH_PARAMS] = {
    LOOM_PARAM_TEXT(attach_settings, object, "",
                    "Name of the cloth or solid whose vertices are tied; no affine body."),
    LOOM_PARAM_TEXT(attach_settings, where, "",
                    "Its vertices, as in [pin.NAME] where: ids, corners, left, ..., boundary, or "
                    "box X0 Y0 Z0 X1 Y1 Z1 (m)."),
    LOOM_PARAM_TEXT(attach_settings, to, "",
                    "Name of the cloth or solid to which each of them is tied, at the point of its "
                    "surface that is nearest at the start; its forces act on both sides."),
    LOOM_PARAM_REAL(attach_settings, stiffness, 1000, 1e-9, 1e12, "N/m", "Of each tie."),
    LOOM_PARAM_REAL(attach_settings, length, 0, 0, 1e6, "m",
                    "Ties are threads that pull beyond this length; 0: springs of no length.  "
                    "Contact keeps the sides apart: give more than its gap and the thickness."),
    LOOM_PARAM_REAL(attach_settings, within, 0.01, 1e-9, 1e6, "m",
                    "A vertex that is farther away at the start is an error.")};

const loom_param scene_twist_params[SCENE_TWIST_PARAMS] = {
    LOOM_PARAM_TEXT(twist_settings, object, "", "Name of the yarn, with twisting > 0."),
    LOOM_PARAM_TEXT(twist_settings, segments, "none",
                    "Segments whose material frames are clamped: they do not turn about their "
                    "segment but by `turn`.  Numbers from 0, yarn after yarn; first, last: of "
                    "every open yarn; none.  Pins hold the vertices."),
    LOOM_PARAM_TEXT(twist_settings, cut, "none",
                    "Vertices between two segments at which the yarn is cut, the part behind is "
                    "turned by `turn`, and glued, as the ring of Michell (1889); in place of "
                    "segments."),
    LOOM_PARAM_REAL(twist_settings, turn, 0, -1e6, 1e6, "deg",
                    "Angle about the direction of the yarn, by the right hand."),
    LOOM_PARAM_REAL(twist_settings, turn_from, 0, 0, 1e6, "s",
                    "Time from which the angle grows evenly, in the time of motions."),
    LOOM_PARAM_REAL(twist_settings, turn_until, 0, 0, 1e6, "s",
                    "Time at which it is complete; 0: from the start on.  A run that starts from "
                    "a frame of a log has the twist of the frame, and goes on from there.")};

const loom_param scene_dress_params[SCENE_DRESS_PARAMS] = {
    LOOM_PARAM_REAL(dress_settings, gravity_from, 0, 0, 1e6, "s",
                    "Gravity acts from this time on, while threads may draw before."),
    LOOM_PARAM_REAL(dress_settings, gravity_rise, 0, 0, 1e6, "s",
                    "Time in which it grows evenly from 0."),
    LOOM_PARAM_REAL(dress_settings, motion_from, 0, 0, 1e6, "s",
                    "Bodies and pins stay at the start of their motions and animations until "
                    "then; hold_from and hold_until of pins count from the start of the run."),
    LOOM_PARAM_REAL(dress_settings, settle, 0, 0, 1e6, "m/s",
                    "The run ends when gravity is whole, threads are drawn, pins with hold_until "
                    "are released, and no vertex is faster; 0: it makes all its steps.")};

const loom_param scene_region_params[SCENE_REGION_PARAMS] = {
    LOOM_PARAM_TEXT(region_settings, object, "", "Name of the cloth."),
    LOOM_PARAM_TEXT(region_settings, where, "",
                    "Names of its parts: pieces (groups g and o of OBJ, property piece of PLY as "
                    "piece0, piece1, ..., pieces of a pattern), materials of OBJ (usemtl), or "
                    "labels of the file `labels`."),
    LOOM_PARAM_PATH(region_settings, labels, "",
                    "File with a line of labels for every vertex of the mesh file, or for every "
                    "triangle; or (.json) an object of names with lists of vertices, from 0.  A "
                    "triangle is in the region if more of its vertices have a label "
                    "of `where` than have none; vertices of which all labels begin with stitch, as "
                    "GarmentCode names its seams, are not counted."),
    LOOM_PARAM_TEXT(
        region_settings, material, "",
        "Name of a file in configs/materials, of the same model as the cloth; it "
        "supplies the keys that are not set in this section.  Keys that neither has are "
        "those of the cloth."),
    LOOM_PARAM_REAL(region_settings, density, 0.2, 1e-9, 1e6, "kg/m^2",
                    "Mass per area of the rest shape.")};

const loom_param scene_ignore_params[SCENE_IGNORE_PARAMS] = {
    LOOM_PARAM_TEXT(ignore_settings, object, "", "Name of the cloth."),
    LOOM_PARAM_TEXT(ignore_settings, where, "",
                    "Names of its parts, as in [region.NAME]; empty: all of it."),
    LOOM_PARAM_PATH(ignore_settings, labels, "", "File of labels, as in [region.NAME]."),
    LOOM_PARAM_TEXT(ignore_settings, body, "",
                    "Name of the body, of shape = mesh with sdf_resolution = 0: contact meets its "
                    "triangles."),
    LOOM_PARAM_TEXT(ignore_settings, part, "",
                    "Names of its parts: groups, materials or labels; empty: all of it."),
    LOOM_PARAM_PATH(ignore_settings, part_labels, "", "File of labels of the body."),
    LOOM_PARAM_REAL(ignore_settings, until, 0, 0, 1e9, "s",
                    "Time up to which contact ignores the part of the body; 0: until gravity, "
                    "threads and pins have done dressing.  Pairs that intersect then are ignored "
                    "until they have parted.")};
