/* settings.c - the parameter tables of [cloth.*], [yarn.*], [pin.*], [body.*] and of the scene's
 * part of [run]; settings_solid.c has that of [solid.*]. */
#include "scene/base/settings.h"

#include <float.h>
#include <string.h>

#include "elements/elements.h"
#include "loom/plugin.h"
#include "scene/base/build.h"

/* Keys of all objects: the settings of each kind begin with object_settings. */
_Static_assert(offsetof(cloth_settings, common) == 0 && offsetof(solid_settings, common) == 0 &&
                   offsetof(yarn_settings, common) == 0,
               "rows of object_settings fill the settings of every kind of object");
static const loom_param object_params[] = {
    LOOM_PARAM_TEXT(
        object_settings, material, "",
        "Name of a file in configs/materials; it supplies the keys that are not set in this "
        "section."),
    LOOM_PARAM_TEXT(
        object_settings, transform, "",
        "Placement: any of 'scale S', 'rotate AX AY AZ DEG' (about the origin) and 'translate "
        "X Y Z' (m), one after the other with spaces between; applied from left to right."),
    LOOM_PARAM_VEC3(object_settings, velocity, "0 0 0", -1e4, 1e4, "m/s",
                    "Initial velocity of all vertices that are not pinned."),
    LOOM_PARAM_PATH(
        object_settings, velocities, "",
        "File of a row VX VY VZ (m/s) for every vertex, or of cloth a mesh (.obj, .ply) of the "
        "same triangles with velocities in the place of positions; transform turns and scales "
        "them, velocity is added."),
    LOOM_PARAM_REAL(object_settings, damping, 0, 0, 1e4, "1/s",
                    "Velocities decay as exp(-damping t)."),
    LOOM_PARAM_REAL(
        object_settings, stiffness_damping, 0, 0, 10, "s",
        "Forces against velocities, of so many times the stiffness at the start of the step "
        "(Rayleigh); of membranes, bending and solids, not of pins and stitches."),
    LOOM_PARAM_TEXT(
        object_settings, pins, "none",
        "Held vertices: none, or a list of vertex ids (from 0), corners, left, right, bottom, "
        "top, front, back, bottom_left, bottom_right, top_left, top_right, boundary, "
        "box X0 Y0 Z0 X1 Y1 Z1 (m)."),
    LOOM_PARAM_REAL(object_settings, pin_stiffness, 0, 0, 1e12, "N/m",
                    "0: held exactly; above: by springs of this stiffness (element pin).", 0,
                    "pins"),
    LOOM_PARAM_TEXT(
        object_settings, pin_motion, "hold",
        "How pins move: 'hold', or any of 'translate VX VY VZ [T0 T1]' (m/s, s) and 'rotate "
        "AX AY AZ PX PY PZ DEG_PER_S [T0 T1]', one after the other with spaces between; "
        "applied from left to right.",
        0, "pins")};

/* The pairs of membrane and bending that cloth is usually made of. */
#define SCENE_MODELS \
  "arap+isometric|arap+shell|stvk+isometric|stvk+shell|stvk+plate|arap+plate_quadratic|springs"

static const loom_param cloth_params[] = {
    LOOM_PARAM_ENUM(
        cloth_settings, shape, CLOTH_GRID, "grid|obj|ply|disk|strip|cylinder|pattern|mesh",
        "Where the mesh comes from; generated ones are centred on the origin, flat ones "
        "in the plane z = 0, the cylinder (an open tube) around z; pattern: the pieces of a sewing "
        "pattern, each where its file puts it; mesh: OBJ, PLY or legacy VTK by the file's suffix, "
        "or a surface "
        "in STL, OFF, glTF, Collada or FBX by its contents."),
    LOOM_PARAM_TEXT(
        object_settings, size, "",
        "m; grid and strip: SX [SY] (default 1 1 and 1 0.25), disk: diameter (1), cylinder: "
        "diameter and length (0.2 0.5).",
        0, "shape = grid|disk|strip|cylinder"),
    LOOM_PARAM_TEXT(
        object_settings, resolution, "",
        "Vertices; grid and strip: NX [NY] (21 21 and 41 11), disk: rings (10), cylinder: around "
        "and along (32 26).",
        0, "shape = grid|disk|strip|cylinder"),
    LOOM_PARAM_ENUM(cloth_settings, pattern, 1, "regular|alternate",
                    "How generated cells are cut: all along one diagonal, which skews a membrane, "
                    "or mirrored in turn.",
                    0, "shape = grid|strip|cylinder"),
    LOOM_PARAM_PATH(
        cloth_settings, file, "",
        "Mesh of shape = obj, ply or mesh, or pattern of shape = pattern.  vt of OBJ, and s t, u v "
        "or "
        "texcoord of PLY, are its "
        "material coordinates; groups (g, o) of OBJ, and the face property piece of PLY, "
        "its pieces.",
        0, "shape = obj|ply|pattern|mesh"),
    LOOM_PARAM_REAL(cloth_settings, edge_length, 0.02, 1e-6, 1e3, "m",
                    "Edges of the triangles that pieces of a pattern are cut into; [run] detail "
                    "divides it.",
                    0, "shape = pattern"),
    LOOM_PARAM_ENUM(cloth_settings, rest, REST_AUTO, "auto|initial|uv|file",
                    "Shape without stress: initial, where the cloth starts; uv, its material "
                    "coordinates laid flat (generated sheets have some, too), in the fabric's own "
                    "directions; file, the mesh of rest_file, or without it the cloth's own mesh "
                    "before positions moves it; auto: uv of patterns, file with rest_file or "
                    "positions, else initial."),
    LOOM_PARAM_PATH(cloth_settings, rest_file, "",
                    "rest = file: another mesh (.obj or .ply) of the same vertices and triangles; "
                    "transform scales it, too.",
                    0, "rest = auto|file"),
    LOOM_PARAM_REAL(cloth_settings, uv_scale, 1, 1e-9, 1e9, "1",
                    "Factor that makes metres of a file's material coordinates.", 0,
                    "shape = obj|ply"),
    LOOM_PARAM_PATH(cloth_settings, positions, "",
                    "Where the cloth starts: another mesh (.obj or .ply) that begins with the same "
                    "vertices and triangles; any others in it are passed over.  It need not be at "
                    "rest."),
    LOOM_PARAM_ENUM(cloth_settings, repair, REPAIR_NONE,
                    "none|orientation|merge|merge+orientation|clean|merge+clean",
                    "orientation: turn triangles so that all normals agree with the first one's; "
                    "merge: vertices within merge_tolerance become one; clean: triangles without "
                    "area, and the second of two with the same vertices, are left out."),
    LOOM_PARAM_ENUM(cloth_settings, sewing, SEWING_AUTO, "auto|none|merge|pull",
                    "How seams hold: merge, vertices on edges with one triangle that start within "
                    "merge_tolerance of each other, or that a seam of a pattern joins, become one, "
                    "each piece keeps its rest shape, vertex ids in pins count as in the file; "
                    "pull, stitches draw vertices to points of edges (element stitch), contact and "
                    "the audit leave sewn neighbours out; auto: pull if there are stitches."),
    LOOM_PARAM_REAL(cloth_settings, merge_tolerance, 1e-6, 0, 1, "m",
                    "Distance up to which vertices are merged.", 0,
                    "repair = merge|merge+orientation|merge+clean or sewing = merge"),
    LOOM_PARAM_PATH(cloth_settings, stitches, "",
                    "File of lines 'stitch I A B T': vertex I to the point (1-T) A + T B of an "
                    "edge, ids from 0; empty: the stitches in the OBJ file.",
                    0, "sewing = auto|pull"),
    LOOM_PARAM_REAL(cloth_settings, stitch_stiffness, 1000, 1e-9, 1e9, "N/m",
                    "Stiffness of a stitch: a force F leaves a gap of F over it.", 0,
                    "sewing = auto|pull"),
    LOOM_PARAM_REAL(cloth_settings, sewing_time, 0.5, 0, 1e6, "s",
                    "Time in which threads shorten from their first length to 0; 0: at once.", 0,
                    "sewing = auto|pull"),
    LOOM_PARAM_INT(cloth_settings, seam_rings, 0, 0, 4, "1",
                   "Rings of neighbours in the mesh that sewn vertices are left out with, too: 1 "
                   "where a side of a seam has vertices that no stitch names, at more than twice "
                   "the other side's density.",
                   0, "sewing = auto|pull"),
    LOOM_PARAM_REAL(
        cloth_settings, imperfection, 0, 0, 1, "m",
        "RMS of waves along the normals that break the symmetry of where the sheet starts (with "
        "rest = initial of its rest shape, too), as in the analysis of buckling: comparisons of "
        "solvers on flat sheets need some.  The same waves for every resolution."),
    LOOM_PARAM_INT(cloth_settings, imperfection_seed, 0, 0, 1e15, "1",
                   "Number that the waves are drawn from.", 0, "imperfection"),
    LOOM_PARAM_REAL(object_settings, density, 0.2, 1e-9, 1e6, "kg/m^2",
                    "Mass per area of the rest shape."),
    LOOM_PARAM_ROW_("model", LOOM_P_TEXT, LOOM_PARAM_AT_(cloth_settings, model, loom_text), 0, 0, 0,
                    "arap+plate_quadratic", SCENE_MODELS, "1",
                    "Membrane and bending energies (elements tri_arap, tri_stvk, hinge_isometric, "
                    "hinge_shell, plate, plate_quadratic, spring); or any element types of cloth "
                    "(loom list elements), joined by +."),
    LOOM_PARAM_REAL(object_settings, thickness, 5e-4, 0, 1, "m", SCENE_THICKNESS_DOC)};

static const loom_param yarn_params[] = {
    LOOM_PARAM_ENUM(yarn_settings, pattern, YARN_STOCKINETTE, "stockinette|garter|rib|tube|bcc|obj",
                    "How it is knitted; flat pieces lie around the plane z = 0 with their rows "
                    "along x, the tube (stockinette) stands around the z axis; bcc and obj: the "
                    "curves of a file."),
    LOOM_PARAM_PATH(yarn_settings, file, "",
                    "bcc: a binary curve collection of uniform Catmull-Rom curves; obj: one yarn "
                    "for every polyline (l).  Points are control points; transform brings other "
                    "units to m.",
                    0, "pattern = bcc|obj"),
    LOOM_PARAM_INT(yarn_settings, rows, 8, 1, 1e6, "1", "Rows (courses).", 0,
                   "pattern = stockinette|garter|rib|tube"),
    LOOM_PARAM_INT(yarn_settings, loops, 8, 1, 1e6, "1", "Loops in a row, of a tube: around.", 0,
                   "pattern = stockinette|garter|rib|tube"),
    LOOM_PARAM_INT(yarn_settings, stripe, 0, 0, 1e6, "1",
                   "Rows after which a new yarn begins; 0: one yarn knits a flat piece.", 0,
                   "pattern = stockinette|garter|rib"),
    LOOM_PARAM_INT(yarn_settings, rib, 2, 1, 1e6, "1",
                   "rib: columns of knit loops, then as many of purl loops.", 0, "pattern = rib"),
    LOOM_PARAM_BOOL(yarn_settings, closed, 1,
                    "tube: every row is a closed yarn of its own; 0: one open yarn in a helix.", 0,
                    "pattern = tube"),
    LOOM_PARAM_BOOL(yarn_settings, bind, 1,
                    "Glue heads of the last row to their neighbours and the feet of each loop of "
                    "the first row together, so that the knit does not unravel.",
                    0, "pattern = stockinette|garter|rib|tube"),
    LOOM_PARAM_TEXT(
        yarn_settings, glue, "none",
        "Further pairs of vertices that are held at their distance: A B A B ...; or none."),
    LOOM_PARAM_PATH(yarn_settings, positions, "",
                    "Where the yarns start, apart from pattern or file, which say how they are at "
                    "rest: a row X Y Z for every point, or the same curves in an .obj or .bcc."),
    LOOM_PARAM_PATH(yarn_settings, rest_lengths, "",
                    "File of a row with the rest length (m) of every segment, yarn after yarn, in "
                    "place of the lengths in pattern or file; transform scales it, too."),
    LOOM_PARAM_PATH(
        yarn_settings, rest_curvature, "",
        "File of a row of 5 numbers for every point between two segments: curvatures kb.m2, "
        "-kb.m1 (1, kb of Bergou et al. 2008) in the frame of the segment before, the same in that "
        "of the one behind, twist (rad).  Without: from pattern or file."),
    LOOM_PARAM_PATH(yarn_settings, directors, "",
                    "File of a row X Y Z for every segment, the first director m1 of its material "
                    "frame at the start; the part along the segment is taken off.  Without: "
                    "frames without twist, then the twist of least energy."),
    LOOM_PARAM_REAL(yarn_settings, radius, 1.25e-3, 0, 1, "m",
                    "Radius of the yarn (0.125 cm in Kaldor et al. 2010).", LOOM_P_OPEN_MIN),
    LOOM_PARAM_REAL(yarn_settings, radius_time, 0, 0, 1e6, "s",
                    "Time in which the radius of contact with yarns grows to `radius`, from the "
                    "largest with which no two press at the start; 0: whole from the start.  "
                    "Bodies, masses and rods have `radius` all the time, and so has glue.",
                    0, "pattern = bcc|obj"),
    LOOM_PARAM_REAL(yarn_settings, loop_width, 0, 0, 10, "m",
                    "Distance of neighbouring loops; 0: as wide as the radius asks for.", 0,
                    "pattern = stockinette|garter|rib|tube"),
    LOOM_PARAM_REAL(yarn_settings, row_height, 0, 0, 10, "m",
                    "Distance of neighbouring rows; 0: as high as the radius asks for.", 0,
                    "pattern = stockinette|garter|rib|tube"),
    LOOM_PARAM_REAL(object_settings, density, 5e-4, 1e-9, 1e6, "kg/m",
                    "Mass per length (0.005 g/cm).")};

#define MOTION(T, what, only_with)                                                                 \
  LOOM_PARAM_TEXT(T, motion, "hold",                                                               \
                  what " 'hold', or any of 'translate VX VY VZ [T0 T1]' (m/s, s), 'rotate AX AY "  \
                       "AZ PX PY PZ DEG_PER_S [T0 T1]' and 'keyframes', one after the other with " \
                       "spaces between; applied from left to right.",                              \
                  0, only_with),                                                                   \
      LOOM_PARAM_TEXT(T, keyframes, "",                                                            \
                      "Rows T X Y Z AX AY AZ DEG, separated by '|': shift (m) and turn at time T " \
                      "(s); linear and slerp in between.",                                         \
                      0, only_with),                                                               \
      LOOM_PARAM_PATH(T, keyframe_file, "", "The same rows, one to a line.", 0, only_with)

static const loom_param pin_params[] = {
    LOOM_PARAM_TEXT(pin_settings, object, "", "Name of the cloth, solid or yarn."),
    LOOM_PARAM_TEXT(pin_settings, where, "none", "Held vertices, as the key pins of a cloth."),
    LOOM_PARAM_REAL(pin_settings, stiffness, 0, 0, 1e12, "N/m",
                    "0: held exactly; above: by springs of this stiffness (element pin).", 0,
                    "where"),
    MOTION(pin_settings, "How they move:", "where"),
    LOOM_PARAM_TEXT(pin_settings, body, "",
                    "Name of a body that they move with, in place of motion: each vertex keeps "
                    "its place on the body, of a skin or mesh that bends on the nearest triangle.",
                    0, "where"),
    LOOM_PARAM_TEXT(pin_settings, joint, "",
                    "Joint of a body of shape = rig that they move with as one, in place of the "
                    "skin.",
                    0, "body"),
    LOOM_PARAM_REAL(pin_settings, hold_from, 0, 0, 1e6, "s",
                    "Time from which they hold.  Above 0, exact pins take vertices where they are "
                    "then, springs pull to where the mesh had them.",
                    0, "where"),
    LOOM_PARAM_REAL(pin_settings, hold_until, 0, 0, 1e6, "s",
                    "Time of their release; 0: never.  They hold in steps with their middle in "
                    "between.",
                    0, "where")};

#define BODY_CLOSED(name) #name "|"
static const char body_shapes[] =
#include "bodies/bodies.def"
    "mesh|sdf|revolve|rig";
/* mesh_size cuts the surface of a shape into triangles, if the shape has one. */
#define BODY_CLOSED(name) #name "|"
#define BODY_ENDLESS(name)
static const char outlined_shapes[] = "shape = "
#include "bodies/bodies.def"
                                      "revolve";

static const loom_param body_params[] = {
    LOOM_PARAM_ENUM(body_settings, shape, BODY_SHAPE_sphere, body_shapes,
                    "Kind of the obstacle; revolve: the surface of revolution of a profile; rig: a "
                    "body with a skeleton and a skin that follows its joints."),
    LOOM_PARAM_VEC3(body_settings, position, "0 0 0", -1e6, 1e6, "m",
                    "Of the body's origin: a point of the plane, the centre of other shapes, the "
                    "origin of a file's coordinates."),
    LOOM_PARAM_TEXT(body_settings, rotation, "0 0 1 0", "AX AY AZ DEG: axis and angle."),
    LOOM_PARAM_PATH(body_settings, file, "",
                    "mesh: a surface (.obj, .ply, .vtk; STL, OFF, glTF, Collada and FBX by their "
                    "contents), which must be closed for a distance grid; sdf: "
                    "a grid as SDFGen writes it; rig: a skinned body, .gltf, .glb, .dae or .fbx.",
                    0, "shape = mesh|sdf|rig"),
    LOOM_PARAM_REAL(
        body_settings, mesh_size, 0, 0, 1e6, "m",
        "revolve, and all shapes but plane, mesh and sdf: make a closed mesh of triangles "
        "about this large, as contact between triangles needs it; 0: the exact shape.",
        0, outlined_shapes),
    LOOM_PARAM_TEXT(body_settings, profile, "",
                    "revolve: corners R Z (m) of the cross-section, separated by '|', turned "
                    "around the body's z axis; the last one joins the first.",
                    0, "shape = revolve"),
    LOOM_PARAM_REAL(body_settings, scale, 1, 1e-9, 1e9, "1",
                    "mesh, and rig from a file: factor on coordinates.", 0, "shape = mesh|rig"),
    LOOM_PARAM_ENUM(
        body_settings, repair, REPAIR_NONE, "none|orientation|clean|clean+orientation",
        "mesh: turn triangles so that all normals agree with the first one's, and point "
        "outwards where it has a distance grid; clean: triangles without area, and the "
        "second of two with the same vertices, are left out, and with a distance grid "
        "vertices at one place become one.",
        0, "shape = mesh"),
    LOOM_PARAM_INT(
        body_settings, sdf_resolution, 64, 0, 2048, "1",
        "mesh, and rig with distance = grid: nodes of its distance grid along the longest "
        "side, 4 or more; mesh, 0: no grid, enough for contact between triangles.",
        0, "shape = mesh|revolve or mesh_size or distance = grid"),
    LOOM_PARAM_REAL(body_settings, sdf_padding, 0, 0, 1e6, "m",
                    "mesh: how far the grid reaches beyond it; 0: a tenth of the longest side.", 0,
                    "shape = mesh|revolve or mesh_size"),
    LOOM_PARAM_REAL(body_settings, friction, 0.3, 0, 100, "1", "Coulomb coefficient."),
    LOOM_PARAM_REAL(body_settings, thickness, 0, 0, 1e3, "m",
                    "Layer by which the surface is moved outwards; of a mesh from a file or a "
                    "profile only its distance grid, of a rig only its distance."),
    MOTION(body_settings, "How it moves, or sequence, a mesh for every frame:", NULL),
    LOOM_PARAM_PATH(body_settings, frames, "",
                    "motion = sequence: the files, .obj or .ply, with %d or %04d in the place of "
                    "the frame's number, or one HDF5 file with /vertices [frames][n][3] (m) and "
                    "/triangles [nt][3]; linear in between.  position, rotation and scale hold for "
                    "all.",
                    0, "shape = mesh"),
    LOOM_PARAM_TEXT(body_settings, rig, "",
                    "rig: leg (z up, front +y, a left leg with its hip at the origin) or "
                    "lower_body (pelvis and legs, y up, front +z).",
                    0, "shape = rig"),
    LOOM_PARAM_REAL(body_settings, edge_length, 0, 0, 1, "m",
                    "rig: sides of the triangles of its skin; 0: the body's own.", 0,
                    "shape = rig"),
    LOOM_PARAM_ENUM(body_settings, distance, 0, "none|neural|grid|exact|capsules",
                    "rig: the distance that collision sdf uses; neural: shallow networks "
                    "(Akar et al. 2024); grid: exact at the nodes of a grid (sdf_resolution) that "
                    "is baked anew in every step; exact: the skin itself; capsules: a round cone "
                    "fitted to each joint's skin.  Its triangles are there all the same.",
                    0, "shape = rig"),
    LOOM_PARAM_PATH(body_settings, networks, "",
                    "distance = neural: the file, as ./loom figure ssdf-train makes it for a body.",
                    0, "distance = neural"),
    LOOM_PARAM_ENUM(body_settings, regions, 0, "flags|least",
                    "distance = neural, where regions overlap: the least distance of the regions "
                    "flagged as having the nearest skin (eq. 1), or of all.",
                    0, "distance = neural"),
    LOOM_PARAM_ENUM(body_settings, gradient, 0, "analytic|differences",
                    "distance = neural: by one sweep back through a network, or as in the paper by "
                    "forward differences of a thousandth of half a box.",
                    0, "distance = neural"),
    LOOM_PARAM_TEXT(body_settings, angles, "",
                    "rig: the pose that holds, or that an animation begins from, degrees: "
                    "left_knee 30 left_hip.flexion -10 ...; all others are 0.",
                    0, "shape = rig"),
    LOOM_PARAM_TEXT(
        body_settings, animation, "",
        "rig: how its joints move, the NAME of animations/NAME.txt near the config: walk, "
        "squat, jog or kick; of a rig from a file, an animation in it.  motion moves it "
        "as a whole on top.",
        0, "shape = rig"),
    LOOM_PARAM_PATH(body_settings, animation_file, "", "rig: the same, any file.", 0,
                    "shape = rig"),
    LOOM_PARAM_REAL(body_settings, animation_start, 0, 0, 1e6, "s", "When the animation begins.", 0,
                    "animation or animation_file"),
    LOOM_PARAM_REAL(body_settings, animation_ease, 0.5, 0, 1e6, "s",
                    "Time in which the pose of `angles` passes into the animation.", 0,
                    "animation or animation_file"),
    LOOM_PARAM_REAL(body_settings, animation_speed, 1, 0, 1e3, "1", "Factor on its speed.", 0,
                    "animation or animation_file"),
    LOOM_PARAM_BOOL(body_settings, animation_loop, 1,
                    "A periodic animation begins anew; 0: once, then its end holds.", 0,
                    "animation or animation_file"),
    LOOM_PARAM_INT(body_settings, frame_first, 0, 0, 1e9, "1", "Number of the first frame, t = 0.",
                   0, "shape = mesh"),
    LOOM_PARAM_INT(body_settings, frame_count, 0, 0, 1e5, "1",
                   "Frames of the sequence; 0: all from the first on.  The last one holds.", 0,
                   "shape = mesh"),
    LOOM_PARAM_REAL(body_settings, frame_rate, 25, 1e-3, 1e6, "1/s", "Frames per second.", 0,
                    "shape = mesh"),
    LOOM_PARAM_REAL(body_settings, mass, 0, 0, 1e6, "kg",
                    "sphere: above 0 it is a ball that falls, rolls and is pushed by contact "
                    "(solid, inelastic, friction of two bodies: root of the product), for contact "
                    "models that report reactions (project).  Cloth or yarn that touches it must "
                    "weigh less than 2/7 of it: they take turns with balls, and else swing ever "
                    "more."),
    LOOM_PARAM_VEC3(body_settings, velocity, "0 0 0", -1e4, 1e4, "m/s",
                    "Of a body with a mass, at the start."),
    LOOM_PARAM_VEC3(body_settings, spin, "0 0 0", -1e5, 1e5, "rad/s",
                    "Angular velocity of a body with a mass, at the start."),
    LOOM_PARAM_TEXT(body_settings, copies, "1 1 1",
                    "NX NY NZ: number of copies along x, y and z, around position, named NAME_0, "
                    "NAME_1, ... along x first."),
    LOOM_PARAM_VEC3(body_settings, copy_spacing, "0 0 0", 0, 1e6, "m",
                    "Distance of neighbouring copies along x, y and z.", 0, "copies"),
    LOOM_PARAM_REAL(body_settings, copy_jitter, 0, 0, 1e6, "m",
                    "Copies are moved by up to this along each axis, the same way in every run, so "
                    "that balls do not pile up in columns.",
                    0, "copies")};

static const loom_param wind_params[] = {
    LOOM_PARAM_VEC3(wind_settings, velocity, "0 0 0", -1e3, 1e3, "m/s",
                    "Of the air; 0 0 0: air at rest, which brakes cloth."),
    LOOM_PARAM_REAL(wind_settings, density, 1.225, 0, 1e4, "kg/m^3",
                    "Of the air; 1.225 at sea level, 15 degrees C (ISO 2533)."),
    LOOM_PARAM_REAL(wind_settings, normal, 1.28, 0, 100, "1",
                    "Coefficient of the force along the normal of a triangle, its drag across the "
                    "flow and its lift at an angle; 1.28 of a flat plate (NASA Glenn)."),
    LOOM_PARAM_REAL(wind_settings, tangential, 0.01, 0, 100, "1",
                    "Coefficient of the force along a triangle; 0.01: friction on both sides of a "
                    "plate at a Reynolds number of 1e6 (Schlichting)."),
    LOOM_PARAM_REAL(wind_settings, gust, 0, 0, 10, "1",
                    "Gusts: the velocity swings by this share of itself, as a sine."),
    LOOM_PARAM_REAL(wind_settings, gust_period, 1, 1e-6, 1e6, "s", "Time from gust to gust.", 0,
                    "gust"),
    LOOM_PARAM_REAL(wind_settings, gust_length, 0, 0, 1e6, "m",
                    "Distance from gust to gust along velocity; 0: everywhere at one time.", 0,
                    "gust")};

static const loom_param world_params[] = {
    LOOM_PARAM_ENUM(world_settings, up_axis, 2, "x|y|z", "Axis that points up."),
    LOOM_PARAM_INT(world_settings, detail, 1, 1, 64, "1",
                   "Generated cloth and solids get this many times as many cells along each side: "
                   "2 means four times the triangles.  Files and bodies stay."),
    LOOM_PARAM_TEXT(world_settings, gravity, "auto",
                    "GX GY GZ (m/s^2), or auto: 9.81 against up_axis.")};

static const struct {
  const char *section;
  const loom_param *params;
  uint32_t count;
  int has_common;     /* object_params stand behind them */
  const char *before; /* where the rows of element types and of kinds of bodies stand: before the
                       * key; NULL: nowhere */
  const char *elems;  /* section of the element types; NULL: this one */
} own_tables[] = {{"cloth", cloth_params, LOOM_COUNT(cloth_params), 1, "thickness", NULL},
                  {"solid", scene_solid_params, SCENE_SOLID_KEYS, 1, "thickness", NULL},
                  {"yarn", yarn_params, LOOM_COUNT(yarn_params), 1, "density", NULL},
                  {"pin", pin_params, LOOM_COUNT(pin_params), 0, NULL, NULL},
                  {"attach", scene_attach_params, SCENE_ATTACH_PARAMS, 0, NULL, NULL},
                  {"twist", scene_twist_params, SCENE_TWIST_PARAMS, 0, NULL, NULL},
                  {"body", body_params, LOOM_COUNT(body_params), 0, "file", NULL},
                  {"wind", wind_params, LOOM_COUNT(wind_params), 0, NULL, NULL},
                  {"pressure", scene_pressure_params, SCENE_PRESSURE_PARAMS, 0, NULL, NULL},
                  {"dress", scene_dress_params, SCENE_DRESS_PARAMS, 0, NULL, NULL},
                  {"region", scene_region_params, SCENE_REGION_PARAMS, 0, "density", "cloth"},
                  {"ignore", scene_ignore_params, SCENE_IGNORE_PARAMS, 0, NULL, NULL},
                  {"friction", scene_friction_params, SCENE_FRICTION_PARAMS, 0, NULL, NULL},
                  {"run", world_params, LOOM_COUNT(world_params), 0, NULL, NULL}};

const loom_param *scene_params(const char *section, uint32_t *count)
{
  for (size_t k = 0; k < LOOM_COUNT(own_tables); ++k)
    if (strcmp(section, own_tables[k].section) == 0) {
      *count = own_tables[k].count;
      return own_tables[k].params;
    }
  *count = 0;
  return NULL;
}

int scene_own_tables(const char *section, scene_table out[SCENE_OWN_TABLES])
{
  for (size_t k = 0; k < LOOM_COUNT(own_tables); ++k) {
    if (strcmp(section, own_tables[k].section) != 0) continue;
    out[0] = (scene_table){own_tables[k].params, own_tables[k].count, -1};
    out[1] = (scene_table){object_params, LOOM_COUNT(object_params), -1};
    return own_tables[k].has_common ? 2 : 1;
  }
  return 0;
}

/* The rows of element types for a section; types with the same rows have them once. */
static int elem_tables(const char *section, scene_table *out)
{
  int n = 0;
  for (int i = 0; i < elem_count(); ++i) {
    const elem_type *const t = elem_at(i);
    if (t->section == NULL || strcmp(t->section, section) != 0 || t->num_params == 0) continue;
    if (elem_settings_of(i) == i) out[n++] = (scene_table){t->params, t->num_params, i};
  }
  return n;
}

int scene_tables(const char *section, scene_table out[SCENE_MAX_TABLES])
{
  for (size_t k = 0; k < LOOM_COUNT(own_tables); ++k) {
    const loom_param *const p = own_tables[k].params;
    uint32_t head = 0;
    int n = 1;
    if (strcmp(section, own_tables[k].section) != 0) continue;
    while (head < own_tables[k].count &&
           (own_tables[k].before == NULL || strcmp(p[head].key, own_tables[k].before) != 0))
      ++head;
    out[0] = (scene_table){p, head, -1};
    if (own_tables[k].before == NULL) return n;
    n += elem_tables(own_tables[k].elems != NULL ? own_tables[k].elems : section, out + n);
    if (p == body_params) {
      out[n].params = body_kind_keys(&out[n].count);
      out[n++].elem = -1;
    }
    out[n++] = (scene_table){p + head, own_tables[k].count - head, -1};
    if (own_tables[k].has_common)
      out[n++] = (scene_table){object_params, LOOM_COUNT(object_params), -1};
    return n;
  }
  return 0;
}
