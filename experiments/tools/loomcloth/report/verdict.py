"""Which runs were compared, and whether they may be: same problem, same start, same stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loomcloth.config import differing
from loomcloth.tables import Collection, ends_lines

MOST_TOLD = 6  # runs whose warnings are repeated
GOOD, CARE, BAD = "good", "care", "bad"


@dataclass
class Finding:
    """One question of a reviewer: the answer in words, and how bad it is."""

    level: str
    question: str
    answer: str


def _listed(found: Collection, keys: list[str]) -> str:
    words = []
    for key in keys:
        values = dict.fromkeys(r.settings.get(key, "(none)") or "(empty)" for r in found.runs)
        words.append(f"{key} is {', '.join(list(values)[:6])}{' ...' if len(values) > 6 else ''}")
    return "; ".join(words)


def _same(found: Collection, name: str) -> list[Any]:
    return list(dict.fromkeys(r.totals.get(name) for r in found.runs))


def _converged(found: Collection) -> Finding:
    """Measured steps of another program have no end by a solver of loom: their residual is rated alone."""
    pairs = zip(found.names(), found.runs, strict=True)
    told = [(n, line) for n, r in pairs for line in ends_lines(r.totals)]
    measured = [r for r in found.runs if r.totals["measured"]]
    only = len(measured) == len(found.runs)
    question = "Are the measured steps within loom's tolerance?" if only else "Did every step converge?"
    if not told:
        of = "of loom; measured steps of other programs are within loom's tolerance"
        words = f"Yes, in all runs {of}" if measured and not only else "Yes, in all runs"
        return Finding(GOOD, question, f"{words}; the momentum defect is below 1 %.")
    bad = any(r.totals["ref_unconverged"] for r in found.runs)
    words = "; ".join(f"{name}: {line}" for name, line in told[:MOST_TOLD])
    runs = len({name for name, _ in told})
    solved = [r for r in found.runs if not r.totals["measured"]]
    missed = sum(r.totals["unconverged"] for r in solved)
    steps = sum(r.totals["steps"] for r in solved)
    if len(told) > MOST_TOLD:
        many = f"{runs} of {len(found.runs)} runs have warnings"
        if solved:
            many = f"{missed} of {steps} steps did not, {many}"
        words = f"{many}: {words}; ..."
    start = "No: " if only or any(ends_lines(r.totals) for r in solved) else ""
    return Finding(BAD if bad else CARE, question, f"{start}{words}.")


def _problem(found: Collection) -> Finding:
    keys = found.problem_keys()
    if not keys:
        return Finding(GOOD, "One problem?", "Yes: every key that poses the problem is the same in all runs.")
    count = max(found.problem_numbers())
    return Finding(
        BAD, "One problem?", f"No, {count}: {_listed(found, keys)}. Compare only runs of one problem."
    )


def _start(found: Collection) -> Finding:
    """Within each problem: runs of two problems have two references."""
    question = "Same start of every step?"
    starts: dict[int, set[tuple[str, str]]] = {}
    for run, problem in zip(found.runs, found.problem_numbers(), strict=True):
        log = run.settings.get("run.replay", "").rsplit("/", 1)[-1]
        starts.setdefault(problem, set()).add((log, run.settings.get("run.replay_first", "") if log else ""))
    every = set().union(*starts.values())
    if {log for log, _ in every} == {""}:
        return Finding(
            CARE,
            question,
            "Only of the first: each run goes its own way, and later steps of two runs are other problems. "
            "A replay ([run] replay) starts every step from the states of one reference.",
        )
    if len(every) == 1:
        ((log, first),) = every
        return Finding(GOOD, question, f"Yes: all replay {log} from step {first} on.")
    if all(len(s) == 1 for s in starts.values()):
        firsts = sorted({first for _, first in every})
        words = f"Yes, within each of {len(starts)} problems: all its runs replay one log"
        return Finding(GOOD, question, f"{words}, from step {', '.join(firsts)} on.")
    logs, firsts = sorted({n or "none" for n, _ in every}), sorted({f for _, f in every if f})
    more = " ..." if len(logs) > 6 else ""
    return Finding(
        BAD,
        question,
        f"No: the replayed logs are {', '.join(logs[:6])}{more}, from step {', '.join(firsts)} on.",
    )


def _stop(found: Collection) -> Finding:
    keys = [k for k in differing([r.settings for r in found.runs]) if k.startswith("stop.")]
    steps = _same(found, "steps")
    if found.stopped:
        words = ", ".join(f"{n} after {k}{f' of {m}' if m else ''} steps" for n, k, m in found.stopped)
        return Finding(BAD, "Same stop?", f"No: runs were stopped before their end: {words}.")
    if len(steps) > 1:
        return Finding(BAD, "Same stop?", f"No: runs have {', '.join(map(str, steps))} steps.")
    if not keys:
        return Finding(GOOD, "Same stop?", "Yes: all runs have the same steps and the same [stop].")
    return Finding(
        CARE,
        "Same stop?",
        f"Not the same rule: {_listed(found, keys)}. Costs at equal accuracy do not depend on it.",
    )


def _contact(found: Collection) -> Finding:
    if max(found.contact_numbers(), default=1) == 1:
        return Finding(GOOD, "One contact model?", "Yes: energies compare over all runs.")
    return Finding(
        CARE,
        "One contact model?",
        "No: each model has its own energy and its own solution; energies are compared "
        "only within the same settings of contact.",
    )


def _sources(found: Collection) -> Finding:
    commits, machines = _same(found, "git_commit"), _same(found, "processor")
    threads = _same(found, "threads")
    odd = [
        f"{len(v)} {w}"
        for v, w in ((commits, "commits"), (machines, "kinds of processor"), (threads, "numbers of threads"))
        if len(v) > 1
    ]
    if any(str(c).endswith("-dirty") for c in commits):
        odd.append("sources with changes that are not committed")
    if odd:
        return Finding(CARE, "Same sources and machine?", f"No: {', '.join(odd)}; see Provenance.")
    return Finding(
        GOOD, "Same sources and machine?", f"Yes: {commits[0]}, {machines[0]}, {threads[0]} threads."
    )


def builds(found: Collection) -> dict[str, set[str]]:
    """{plugin: the builds that runs have used}, each with version, sources and compiler."""
    out: dict[str, set[str]] = {}
    for run in found.runs:
        for line in str(run.totals.get("plugins", "")).splitlines():
            words = line.split("\t")
            if len(words) >= 5:
                out.setdefault(words[0], set()).add(f"{words[2]}, {words[4]}")
    return out


def _builds(found: Collection) -> Finding:
    question, of = "Same build of every plugin?", builds(found)
    odd = {name: sorted(b) for name, b in of.items() if len(b) > 1}
    if odd:
        words = "; ".join(f"{name}: {' | '.join(b)}" for name, b in odd.items())
        return Finding(CARE, question, f"No, {len(odd)} of {len(of)} plugins have several: {words}.")
    if not of:
        return Finding(CARE, question, "The logs do not say.")
    every = sorted(set().union(*of.values()))
    return Finding(GOOD, question, f"Yes, each of the {len(of)} plugins: {' | '.join(every)}.")


def _clock(found: Collection) -> Finding:
    if any("steps.t_cpu" in r.missing for r in found.runs):
        return Finding(
            CARE,
            "Processor time?",
            "Some logs do not have it: their clocks are wall clocks, which other work on "
            "the machine stretches.",
        )
    return Finding(GOOD, "Processor time?", "Yes, of all threads, without measuring and logging.")


def _audit(found: Collection) -> Finding:
    counts = [r.totals["intersections"] for r in found.runs]
    if any(c != c for c in counts):
        return Finding(
            CARE, "Free of intersections?", "Not audited in every step of every run ([log] audit)."
        )
    bad = sum(c > 0 for c in counts)
    if bad:
        return Finding(CARE, "Free of intersections?", f"{bad} of {len(counts)} runs have some; see Audit.")
    return Finding(GOOD, "Free of intersections?", "Yes: the exact audit of every step found none.")


def findings(found: Collection) -> list[Finding]:
    tests = (_converged, _problem, _start, _stop, _contact, _sources, _builds, _clock, _audit)
    out = [test(found) for test in tests]
    if found.left_out:
        words = "; ".join(f"{path}: {why}" for path, why in found.left_out[:40])
        out.insert(1, Finding(BAD, "All logs read?", f"{len(found.left_out)} are left out: {words}"))
    return out


def settings(found: Collection) -> tuple[list[str], list[list[str]]]:
    """Keys that differ, a row each, with the value of every run."""
    keys = found.keys
    return keys, [[r.settings.get(k, "") for r in found.runs] for k in keys]
