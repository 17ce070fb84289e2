"""Logs as tables of pandas: one row per run, per step, per iteration."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from loomcloth import older
from loomcloth.config import BESIDE, comparable, contact_of, differing, method_of, poses_problem, short_names
from loomcloth.errors import LogError
from loomcloth.log import GOOD_ENDS, Log
from loomcloth.selection import Paths, expand, read_all

# Columns of a run, each with its source.  Columns that an older log lacks are NaN, and a note says so.
COUNTERS = (
    "n_energy", "n_gradient", "n_hessian", "n_spmv", "n_factorise", "n_trisolve", "n_project",
    "n_detect", "n_ccd_pair", "n_launch",
)  # fmt: skip
LAST_OF_STEP = ("e_ref", "r_energy", "r_newton")  # columns of /iters of which the end of a step counts
SUM_OF_STEPS = {"cpu": "t_cpu", "wall": "t_total", "bytes": "n_bytes"}
PROVENANCE = ("git_commit", "config_hash", "host", "created", "end_time", "exit_reason", "command")
# Statuses of logs that are rows: runs that came to their end, and runs that a signal or --max-time stopped
# (exit codes 5 and 6), whose steps are whole.
ROWS = ("finished", "stopped")
LEAST_DEFECT = 0.01  # of the weight, from which a momentum defect is told


class MissingColumns(UserWarning):
    """Logs that an older version wrote lack columns; their values are NaN."""


@dataclass
class Run:
    """The data kept of one log."""

    path: str
    status: str
    settings: dict[str, str]
    totals: dict[str, Any]
    table: pd.DataFrame | None = None  # iters or steps, where asked for
    missing: set[str] = field(default_factory=set)


def _names(table: Any) -> list[str]:
    """Columns of a structured array or dataset."""
    return list(table.dtype.names or ())


def _frame(rows: np.ndarray, words: dict[str, dict[int, str]]) -> pd.DataFrame:
    table = pd.DataFrame({name: rows[name] for name in _names(rows)})
    for column, names in words.items():
        table[column] = pd.Categorical(table[column].map(names), categories=list(names.values()))
    return table


def _last_of_steps(rows: np.ndarray, column: str) -> np.ndarray:
    """The last number that a step has, NaN where it has none."""
    known = rows[np.isfinite(rows[column])]
    _, from_end = np.unique(known["step"][::-1], return_index=True)
    last = known[column][::-1][from_end]
    return np.append(last, [np.nan] * (len(np.unique(rows["step"])) - len(last)))


def _totals(log: Log, missing: set[str]) -> dict[str, Any]:
    steps = log.table("steps")
    names = set(_names(steps))
    words = log.enum("steps", "reason")
    unknown = {int(r) for r in steps["reason"]} - words.keys()
    if unknown:
        raise LogError(f"{log.path}: /steps: the reason {unknown.pop()} has no word")
    reasons = [words[int(r)] for r in steps["reason"]]
    out: dict[str, Any] = {"steps": len(steps), "iterations": int(steps["iters"].sum())}
    out["converged"] = sum(r in GOOD_ENDS for r in reasons)
    out |= _ends(steps, reasons)
    out["reasons"] = " ".join(f"{r} {reasons.count(r)}" for r in dict.fromkeys(reasons))
    for name, column in SUM_OF_STEPS.items():
        if column in names:
            out[name] = float(steps[column].sum())
        else:
            out[name] = np.nan
            missing.add(f"steps.{column}")
    out["peak_memory"] = _number(log, "rss_peak", missing)
    finite = steps["r_final"][np.isfinite(steps["r_final"])]
    out["residual"] = float(finite.max()) if len(finite) == len(steps) > 0 else np.nan
    out |= _accuracy(log, missing)
    audited = len(steps) > 0 and (steps["intersections"] >= 0).all()
    out["intersections"] = int(steps["intersections"].sum()) if audited else np.nan
    gaps = steps["min_gap"][np.isfinite(steps["min_gap"])]
    out["min_gap"] = float(gaps.min()) if len(gaps) else np.nan
    out["contacts"] = int(steps["contacts"].max()) if len(steps) else 0
    out["vertices"] = log.num_vertices
    out |= {name: int(steps[name].sum()) for name in COUNTERS if name in names}
    if log.peer:  # what measuring took says nothing of the program
        unmeasured = ("iterations", "peak_memory", "bytes", *(n for n in COUNTERS if n in names))
        out |= dict.fromkeys(unmeasured, np.nan)
        out["converged"] = np.nan  # no solver of loom ended these steps
    out["measured"] = bool(log.peer)
    return out


def _ends(steps: np.ndarray, reasons: list[str]) -> dict[str, Any]:
    """How well the steps were solved: how many ended above their tolerance, how far the worst one,
    where a replayed reference was no solution, the largest momentum defect; NaN where a log has none."""
    names = set(_names(steps))
    ratio = steps["tol_ratio"] if "tol_ratio" in names else np.full(len(steps), np.nan)
    # as log_unconverged() in framework/log/ends.c: a one-shot method has no tolerance
    missed = np.array([r not in GOOD_ENDS for r in reasons], bool)
    once = np.array([r == "max_iters" for r in reasons], bool) & (steps["iters"] <= 1) & ~(ratio > 0)
    missed &= ~once & ~(np.array([r == "foreign" for r in reasons], bool) & (ratio <= 1))
    rated = missed & (ratio > 0)
    worst = int(np.argmax(np.where(rated, ratio, -1))) if rated.any() else -1
    known = [c for c in ("defect_force", "defect_torque") if c in names]
    defects = np.concatenate([steps[c] for c in known]) if known else np.array([])
    defects = defects[np.isfinite(defects)]
    return {
        "unconverged": int(missed.sum()),
        "worst_ratio": float(ratio[worst]) if worst >= 0 else np.nan,
        "worst_step": int(steps["step"][worst]) if worst >= 0 else -1,
        "ref_unconverged": int(steps["ref_unconverged"].sum()) if "ref_unconverged" in names else 0,
        "timed": reasons.count("time_budget"),
        "defect": float(defects.max()) if len(defects) else np.nan,
    }


def ends_lines(totals: dict[str, Any]) -> list[str]:
    """Warnings about a run's accuracy, in words; none where all is well."""
    steps, out = totals["steps"], []
    if totals["measured"] and totals["unconverged"]:
        line = f"{totals['unconverged']} of {steps} measured steps are above loom's tolerance"
        if totals["worst_ratio"] == totals["worst_ratio"]:
            line += f", at most {totals['worst_ratio']:.3g} times it (step {totals['worst_step']})"
        out.append(line)
    elif totals["unconverged"]:
        line = f"{totals['unconverged']} of {steps} steps did not converge"
        if totals["worst_ratio"] == totals["worst_ratio"]:
            ratio, step = totals["worst_ratio"], totals["worst_step"]
            line += f"; the worst ended at {ratio:.3g} times its tolerance (step {step})"
        out.append(line)
    if totals["ref_unconverged"]:
        out.append(f"the reference did not converge in {totals['ref_unconverged']} of {steps} steps: "
                   "e_ref of these is no error")  # fmt: skip
    if totals["timed"]:
        out.append(f"{totals['timed']} of {steps} steps ended by a budget of time: "
                   "another run ends them after other iterations, and its bits differ")  # fmt: skip
    if totals["defect"] >= LEAST_DEFECT:
        out.append(f"momentum defect up to {100 * totals['defect']:.3g} % of the weight")
    return out


def _number(log: Log, name: str, missing: set[str]) -> float:
    if log.has_attr(name):
        value = log.attr(name)
        if isinstance(value, str):
            raise LogError(f"{log.path}: the attribute '{name}' is no number")
        return float(value)
    missing.add(name)
    return float("nan")


def _accuracy(log: Log, missing: set[str]) -> dict[str, float]:
    """The worst step's error at its end; NaN if a step has none."""
    names, out = log.names("iters"), {}
    for name in LAST_OF_STEP:
        out[name] = np.nan
        if name not in names:
            missing.add(f"iters.{name}")
        elif len(rows := log.table("iters", ("step", name))):
            last = _last_of_steps(rows, name)
            out[name] = float(np.max(last)) if np.isfinite(last).all() else np.nan
    return out


def _look(path: str, table: str = "", columns: Sequence[str] | None = None) -> Run:
    """One log; a function of the module, as worker processes call it."""
    with Log(path) as log:
        missing: set[str] = set()
        status = log.status
        if status not in ROWS:
            return Run(path, status, {}, {})
        totals = _totals(log, missing)
        totals |= {name: str(log.attr(name)) for name in PROVENANCE[:3]}
        totals["threads"] = int(_number(log, "threads", missing) if log.has_attr("threads") else 0)
        totals |= {name: str(log.attr(name)) for name in PROVENANCE[3:]}
        totals["processor"], totals["plugins"] = str(log.attr("cpu")), str(log.attr("plugins"))
        totals["planned"] = log.planned_steps
        run = Run(path, status, log.settings, totals, missing=missing)
        if table:
            run.table = _read(log, table, columns, missing)
        return run


def _read(log: Log, name: str, columns: Sequence[str] | None, missing: set[str]) -> pd.DataFrame:
    there = log.names(name)
    wanted = there if columns is None else ["step", *(["k", "stage"] if name == "iters" else []), *columns]
    have = [c for c in dict.fromkeys(wanted) if c in there]
    rows = log.table(name, have)
    words = {c: w for c in have if (w := log.enum(name, c))}
    out = _frame(rows, words)
    for column in wanted:
        if column not in there:
            out[column] = np.nan
            missing.add(f"{name}.{column}")
    return out


@dataclass
class Collection:
    """Logs of runs that finished or were stopped, and the logs left out, each with the reason."""

    runs: list[Run]
    left_out: list[tuple[str, str]]

    @property
    def notes(self) -> list[str]:
        """Columns that older logs lack, with the number of these logs."""
        lacking: dict[str, int] = {}
        for run in self.runs:
            for name in run.missing:
                lacking[name] = lacking.get(name, 0) + 1
        return [
            f"NaN, as {n} of {len(self.runs)} logs lack it: "
            + ", ".join(sorted(name for name, count in lacking.items() if count == n))
            for n in sorted(set(lacking.values()))
        ]

    @property
    def stopped(self) -> list[tuple[str, int, int]]:
        """Name, steps done and steps planned (0: not known) of the runs that were stopped."""
        return [
            (name, run.totals["steps"], run.totals["planned"])
            for name, run in zip(self.names(), self.runs, strict=True)
            if run.status == "stopped"
        ]

    @property
    def keys(self) -> list[str]:
        """Configuration keys in which the runs differ."""
        return [k for k in differing([r.settings for r in self.runs]) if k not in BESIDE]

    def names(self) -> list[str]:
        """Of the runs: the names of the files, with as many folders as tell them apart."""
        paths = [os.path.normpath(r.path).removesuffix(".h5").split(os.sep) for r in self.runs]
        depth = 1
        while len({tuple(p[-depth:]) for p in paths}) < len(paths) and depth < max(map(len, paths)):
            depth += 1
        return ["/".join(p[-depth:]) for p in paths]

    def problem_keys(self) -> list[str]:
        """Keys that pose the problem and are not the same in all runs."""
        return [k for k in self.keys if poses_problem(k)]

    def problem_numbers(self) -> list[int]:
        """Of each run: 1, 2, ... in the order of the first run of each problem."""
        return self._numbers(self.problem_keys())

    def contact_numbers(self) -> list[int]:
        """The same by the settings of the contact models: energies compare only within one."""
        return self._numbers([k for k in self.keys if k.startswith("contact.")])

    def contact_labels(self) -> list[str]:
        """Of each run its contact models, with a number where models of these names have several settings."""
        numbers, models = self.contact_numbers(), [contact_of(r.settings) for r in self.runs]
        among: dict[str, list[int]] = {}
        for model, number in zip(models, numbers, strict=True):
            if number not in among.setdefault(model, []):
                among[model].append(number)
        return [
            model if len(among[model]) == 1 else f"{model} ({among[model].index(number) + 1})"
            for model, number in zip(models, numbers, strict=True)
        ]

    def _numbers(self, keys: Sequence[str]) -> list[int]:
        known: dict[tuple[str | None, ...], int] = {}
        values = (tuple(comparable(k, r.settings.get(k, "")) for k in keys) for r in self.runs)
        return [known.setdefault(v, len(known) + 1) for v in values]


def collect(paths: Paths, table: str = "", columns: Sequence[str] | None = None) -> Collection:
    """Every log that `paths` means.  Logs that are being written, that failed, or that are damaged are in
    `left_out`, with the reason."""
    runs: list[Run] = []
    left_out: list[tuple[str, str]] = []
    for path, result in read_all(partial(_look, table=table, columns=columns), expand(paths)):
        if isinstance(result, LogError):
            left_out.append((path, str(result).removeprefix(f"{path}: ")))
        elif result.status not in ROWS:
            left_out.append((path, result.status if result.status != "running" else "unfinished (running)"))
        else:
            runs.append(result)
    older.fill([r.settings for r in runs])
    return Collection(runs, left_out)


def _tell(frame: pd.DataFrame, found: Collection) -> pd.DataFrame:
    frame.attrs["left_out"] = found.left_out
    frame.attrs["notes"] = found.notes
    frame.attrs["keys"] = found.keys
    known = dict.fromkeys([*setting_columns(found).values(), *short_names(found.keys).values(), *found.keys])
    frame.attrs["settings"] = [c for c in known if c in frame]
    frame.attrs["problem_keys"] = found.problem_keys()
    return frame


def _warn(frame: pd.DataFrame) -> pd.DataFrame:
    """Tells the caller of a function of the package about the logs behind a table."""
    if frame.attrs["notes"]:
        warnings.warn("; ".join(frame.attrs["notes"]), MissingColumns, stacklevel=3)
    for path, why in frame.attrs["left_out"]:
        warnings.warn(f"{path} is left out: {why}", stacklevel=3)
    return frame


def setting_columns(found: Collection) -> dict[str, str]:
    """{key in which the runs differ: its column}: the last words of the key, and the whole key where
    a column of another meaning is called so."""
    taken = {"run", "method", "problem", "status", "path", *(n for r in found.runs for n in r.totals)}
    return {k: k if name in taken else name for k, name in short_names(found.keys).items()}


def numbers_of(texts: list[str]) -> list[Any]:
    """Values of a setting, as numbers where all are."""
    try:
        found = [float(t) for t in texts]
    except ValueError:
        return list(texts)
    if not all(np.isfinite(found)):
        return list(texts)
    return [int(v) for v in found] if all(v.is_integer() and abs(v) < 1e15 for v in found) else found


def rows_of(found: Collection) -> pd.DataFrame:
    """One row per run of a collection."""
    short = setting_columns(found)
    rows = []
    values = {k: numbers_of([r.settings.get(k, "") for r in found.runs]) for k in short}
    numbers = found.problem_numbers()
    for i, (run, name, problem) in enumerate(zip(found.runs, found.names(), numbers, strict=True)):
        settings = {name: values[k][i] for k, name in short.items()}
        head = {"run": name, "method": method_of(run.settings), "problem": problem}
        rows.append(head | settings | {"status": run.status} | run.totals | {"path": run.path})
    return pd.DataFrame(rows)


def runs(paths: Paths) -> pd.DataFrame:
    """One row per run that finished or was stopped (column `status`): the settings that differ, totals, the
    accuracy reached, provenance.

    paths: a file, folder, pattern, or a list of these.
    `cpu`, `wall` are seconds of all steps; `peak_memory` bytes; `residual`, `e_ref`, `r_energy` values of
    the worst step at its end (m, m, sqrt J); `intersections` the audit's count over all steps.
    `problem` numbers the problems posed: compare only runs with the same number.
    attrs: `left_out`, pairs of path and reason; `notes`, columns that older logs lack; `keys`,
    `problem_keys`, the configuration keys that differ."""
    found = collect(paths)
    return _warn(_tell(rows_of(found), found))


def table_of(found: Collection) -> pd.DataFrame:
    """As runs(), of a collection and with `solver` and `contact` as iters() has them; it warns of nothing."""
    table = rows_of(found)
    table["solver"] = [r.settings.get("solver.plugin", "?") for r in found.runs]
    table["contact"] = found.contact_labels()
    return _tell(table, found)


def long_of(found: Collection) -> pd.DataFrame:
    """Rows of all runs of a collection that was read with a table, one below the other."""
    keys = found.keys
    short = short_names(keys)
    parts = []
    values = {k: numbers_of([r.settings.get(k, "") for r in found.runs]) for k in keys}
    numbers = enumerate(zip(found.problem_numbers(), found.contact_labels(), strict=True))
    for run, name, (i, (problem, contact)) in zip(found.runs, found.names(), numbers, strict=True):
        part = run.table
        assert part is not None
        head: dict[str, Any] = {
            "run": name, "method": method_of(run.settings), "problem": problem,
            "solver": run.settings.get("solver.plugin", "?"), "contact": contact, "status": run.status,
        }  # fmt: skip
        for key in keys:  # one called like a column of the log keeps its whole name
            head[key if short[key] in part or short[key] in head else short[key]] = values[key][i]
        before = pd.DataFrame([head]).loc[np.zeros(len(part), int)].reset_index(drop=True)
        parts.append(pd.concat([before, part], axis=1))
    whole_table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    for column in ("run", "method", "solver", "contact", "status"):
        if column in whole_table:
            whole_table[column] = whole_table[column].astype("category")
    return _tell(whole_table, found)


def iters(paths: Paths, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Rows of /iters of all runs that finished or were stopped, one below the other.  Before them stand
    `run`, `method`, `problem` (a number: the same problem), `solver`, `contact` (one word: the same settings
    of contact), `status` and the settings that differ (attrs["settings"]).  columns: only these, beside step,
    k and stage.  Clocks and counters count from the beginning of the step.  k = -1 is the state every solver
    starts from."""
    return _warn(long_of(collect(paths, "iters", columns)))


def steps(paths: Paths, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Rows of /steps of all these runs in the same form; `reason` in words."""
    return _warn(long_of(collect(paths, "steps", columns)))


def problems(paths: Paths) -> list[str]:
    """Configuration keys that pose the problem and in which the logs differ; empty: one problem."""
    return collect(paths).problem_keys()
