/* settings_solid.c - the parameter table of [solid.*]. */
#include "scene/base/settings.h"

const loom_param scene_solid_params[] = {
    LOOM_PARAM_ENUM(solid_settings, shape, SOLID_BOX, "box|mesh|sphere|blob",
                    "box: a block of tetrahedra around the origin; mesh: of a file; sphere: a ball "
                    "around the origin, its surface filled as that of a file; blob: round parts "
                    "that blend into each other."),
    LOOM_PARAM_PATH(solid_settings, file, "",
                    "Tetrahedra by the file's suffix: .msh (Gmsh 2.2, 4.1), .vtk, .vtu, or .node "
                    "with .ele of the same name (TetGen); or a closed surface (OBJ, PLY, STL and "
                    "others, as of cloth), which the module of Gmsh fills with tetrahedra.",
                    0, "shape = mesh"),
    LOOM_PARAM_REAL(solid_settings, radius, 0.05, 1e-9, 1e6, "m", "Of the vertices of its surface.",
                    0, "shape = sphere"),
    LOOM_PARAM_REAL(solid_settings, mesh_size, 0, 0, 1e6, "m",
                    "Triangles of the surface are about this large, over [run] detail; 0: a "
                    "quarter of the radius.",
                    0, "shape = sphere"),
    LOOM_PARAM_REAL(solid_settings, cell, 0, 0, 1e3, "m",
                    "Edges of the tetrahedra inside a surface; 0: the mean of its own edges.  The "
                    "surface stays as it is.  blob: cubes of a lattice, over [run] detail; 0: the "
                    "least radius.",
                    0, "shape = mesh|sphere|blob"),
    LOOM_PARAM_TEXT(solid_settings, parts, "",
                    "Of a blob: capsules 'X0 Y0 Z0 X1 Y1 Z1 R | ...' (m), all points within R of "
                    "the line from 0 to 1.",
                    0, "shape = blob"),
    LOOM_PARAM_REAL(solid_settings, blend, 0, 0, 1e6, "m",
                    "Parts of a blob that are nearer than this to each other are joined by a "
                    "fillet.",
                    0, "shape = blob"),
    LOOM_PARAM_TEXT(object_settings, size, "0.1 0.1 0.1", "m, sides of the block along x, y and z.",
                    0, "shape = box"),
    LOOM_PARAM_TEXT(object_settings, resolution, "5 5 5", "Vertices along each side.", 0,
                    "shape = box"),
    LOOM_PARAM_REAL(object_settings, density, 1000, 1e-9, 1e6, "kg/m^3",
                    "Mass per volume of the rest shape."),
    LOOM_PARAM_ROW_("model", LOOM_P_TEXT, LOOM_PARAM_AT_(solid_settings, model, loom_text), 0, 0, 0,
                    "arap", "arap|neohookean|affine", "1",
                    "Energy (elements tet_arap, tet_neohookean); or any element types of solids "
                    "(loom list elements), joined by +.  affine: a stiff body that moves by affine "
                    "maps, as one tetrahedron with the energy of arap that carries its surface."),
    LOOM_PARAM_REAL(object_settings, thickness, 5e-4, 0, 1, "m", SCENE_THICKNESS_DOC)};
