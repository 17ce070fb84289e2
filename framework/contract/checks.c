/* checks.c - the list of all checks. */
#include "contract/contract.h"

enum { ANY = -1, S = LOOM_KIND_SOLVER, L = LOOM_KIND_COLLISION, C = LOOM_KIND_CONTACT };

static const ct_check checks[] = {
    {"descriptor", "complete", ANY, ct_descriptor_complete, "no text is missing"},
    {"descriptor", "tables", ANY, ct_descriptor_tables, "parameters and columns are documented"},
    {"descriptor", "members", ANY, ct_descriptor_members, "every announced function is there"},
    {"descriptor", "exports_one_symbol", ANY, ct_descriptor_exports, "only one symbol is exported"},
    {"life", "create_destroy", ANY, ct_life_create_destroy, "memory and maps are given back"},
    {"life", "buffers_settle", ANY, ct_life_buffers_settle, "steps do not collect buffers"},
    {"life", "memory_runs_out_in_create", ANY, ct_life_memory_in_create,
     "any allocation of create() may fail"},
    {"life", "memory_runs_out_in_step", ANY, ct_life_memory_in_step,
     "any allocation of a step may fail"},
    {"life", "reset_forgets", ANY, ct_life_reset_forgets, "after reset() it is as good as new"},
    {"life", "restart_continues", ANY, ct_life_restart_continues,
     "checkpoint() keeps all that outlives a step"},
    {"life", "two_at_once", ANY, ct_life_two_at_once, "two instances do not disturb each other"},
    {"life", "threads_do_not_matter", ANY, ct_life_threads, "same bits for 1 and 3 threads"},
    {"life", "wrong_order", ANY, ct_life_wrong_order, "calls out of order do not crash it"},
    {"life", "affine_bodies", ANY, ct_life_affine,
     "vertices that follow others stay at their places, or the scene is refused by name"},
    {"solver", "residual_falls", S, ct_solver_residual_falls, "a convex problem is solved"},
    {"solver", "solution_is_a_fixed_point", S, ct_solver_fixed_point,
     "further iterations do not leave the solution"},
    {"solver", "fixed_vertices_stay", S, ct_solver_fixed_vertices,
     "pins are where the core puts them"},
    {"solver", "reports", S, ct_solver_reports, "loom_iterate is filled in as plugin.h says"},
    {"collision", "pairs_are_sound", L, ct_collision_pairs, "gap, weights, normal, keys"},
    {"collision", "same_answer_twice", L, ct_collision_twice, "same bits for the same query"},
    {"collision", "asks_for_room", L, ct_collision_room, "LOOM_GROW, no pair past the capacity"},
    {"collision", "bounds_are_sound", L, ct_collision_bounds,
     "max_step() in (0, 1], 1 without motion"},
    {"collision", "leaves_out_what_is_listed", L, ct_collision_left_out,
     "pairs of loom/exclusions.h neither come nor stop a step, all others do"},
    {"collision", "bodies_change_their_shape", L, ct_collision_deforming,
     "body meshes are where body1 has them, not where they began"},
    {"contact", "gradient_of_energy", C, ct_contact_gradient, "against bodies of a formula"},
    {"contact", "hessian_of_gradient", C, ct_contact_hessian, "against bodies of a formula"},
    {"contact", "quadratic_form", C, ct_contact_quad, "quad() has the model's gradient"},
    {"contact", "metrics", C, ct_contact_metrics, "numbers make sense, columns are filled"},
    {"contact", "metrics_of_forces", C, ct_contact_forces,
     "pressed cloth is pushed back, with at most the force of the metrics"},
    {"contact", "update_reports", C, ct_contact_update_reports,
     "*changed of update() says when energy or gradient at x have changed"},
    {"contact", "self_gradient", C, ct_contact_self_gradient,
     "cloth against cloth and a mesh body: all cases of VT and EE"},
    {"contact", "self_hessian", C, ct_contact_self_hessian,
     "cloth against cloth and a mesh body: all cases of VT and EE"},
    {"contact", "self_quadratic_form", C, ct_contact_self_quad,
     "cloth against cloth and a mesh body: all cases of VT and EE"},
    {"contact", "affine_gradient", C, ct_contact_affine_gradient, "cloth against an affine body"},
    {"contact", "affine_hessian", C, ct_contact_affine_hessian, "cloth against an affine body"},
    {"contact", "affine_quadratic_form", C, ct_contact_affine_quad,
     "cloth against an affine body: terms of up to 8 vertices"},
};

const ct_check *ct_checks(int *num)
{
  *num = (int)LOOM_COUNT(checks);
  return checks;
}
