"""Tables, accuracy, figures and reports from loom's logs.

    import loomcloth
    table = loomcloth.runs("out/*.h5")              # one row per run
    it = loomcloth.iters("out/*.h5")                # one row per iteration of every run
    it["residual"] = loomcloth.residual(it)
    loomcloth.to_accuracy(it, e_ref=1e-4)           # costs of each run to it, NaN where not reached
    loomcloth.to_accuracy(it, r_energy="1%")        # to a share of the first distance of each step
    loomcloth.at_budget(it, "e_ref", t_cpu=0.05)    # errors when each step has spent it
    loomcloth.group_costs(it, ["method"], e_ref=1e-4)   # mean and spread of groups, counts of successes
    loomcloth.performance_profile(it, e_ref=1e-4)   # Dolan and More 2002
    with loomcloth.open("out/drape.h5") as log: ... # one log as numpy arrays

The logs do not depend on this package: h5py and pandas read them.  A name is imported when it is first
used, so that the commands can show their help without the libraries.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loomcloth.accuracy import at_budget, performance_profile, residual, to_accuracy
    from loomcloth.dataset import to_xarray
    from loomcloth.groups import group_costs, group_errors, replicate_keys, stalls, summary
    from loomcloth.log import Log
    from loomcloth.log import open_log as open
    from loomcloth.style import colour, journal_axes, marker, plain_axes, save
    from loomcloth.tables import iters, problems, runs, steps

_PLACES = {
    "Log": ("log", "Log"),
    "open": ("log", "open_log"),
    "runs": ("tables", "runs"),
    "iters": ("tables", "iters"),
    "steps": ("tables", "steps"),
    "problems": ("tables", "problems"),
    "residual": ("accuracy", "residual"),
    "at_budget": ("accuracy", "at_budget"),
    "group_costs": ("groups", "group_costs"),
    "group_errors": ("groups", "group_errors"),
    "replicate_keys": ("groups", "replicate_keys"),
    "stalls": ("groups", "stalls"),
    "summary": ("groups", "summary"),
    "to_accuracy": ("accuracy", "to_accuracy"),
    "to_xarray": ("dataset", "to_xarray"),
    "performance_profile": ("accuracy", "performance_profile"),
    "colour": ("style", "colour"),
    "marker": ("style", "marker"),
    "journal_axes": ("style", "journal_axes"),
    "plain_axes": ("style", "plain_axes"),
    "save": ("style", "save"),
}

__all__ = [
    "Log", "at_budget", "colour", "group_costs", "group_errors", "iters", "journal_axes", "marker", "open",
    "performance_profile", "plain_axes", "problems", "replicate_keys", "residual", "runs", "save", "stalls",
    "steps", "summary", "to_accuracy", "to_xarray",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'loomcloth' has no attribute '{name}'")
    module, inside = _PLACES[name]
    value = getattr(importlib.import_module(f"loomcloth.{module}"), inside)
    globals()[name] = value
    return value
