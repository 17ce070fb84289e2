"""One physics for every method as bars, from the output of tests: friction, frames, time steps, stiffness, far objects,
momentum, impacts."""

import re

from loomcloth.experiment import Bar
from loomcloth.validation.friction import read_lines

SOLVERS = ("cholmod_newton", "pcg_newton", "aa_pd", "ndb_pd", "pd_bfgs", "cama_pcg")
MANY = ["-j1", "--timeout", "20000", "--filter"]
FRICTION = 0.03  # of theory
FRAMES = 1e-6  # m
SAG = 0.01  # of that at a tight tolerance
STIFF = 0.02  # of the way
FAR = 0.1  # mm
DRIFT, DRIFT_INNER = 1e-3, 2e-3  # of sum m|v|
ANGULAR = 0.01  # of the start
LOST = 0.02  # of the energy of the start
DIRECT = (
    "cholmod_newton",
    "aa_pd",
)  # solvers without a linear solve that ends by a tolerance

FRAME = re.compile(r"^Galilei +(\w+) +(\w+) +(\S+) m along (\w), tolerances (\S+)$", re.MULTILINE)
FLAG = re.compile(
    r"^flag +(\w+) +(\S+) s: sag (\S+) mm, tight (\S+) mm, energy (\S+) J at most, (\d+) of",
    re.MULTILINE,
)
PENDULUM = re.compile(r"^pendulum +(\w+) +w (\S+): off by (\S+) of its way, (\d+) of", re.MULTILINE)
FAR_LINE = re.compile(r"^far +(\w+) +(\w+) +(\w+) *: (\S+) mm, (\d+) steps short(.*)$", re.MULTILINE)
SHEETS = re.compile(
    r"^momentum +(\w+) +(\w+) +(\S+) m/s mu (\S+) drift (\S+) angular (\S+), +(\d+) % of .*, (\d+) passes$",
    re.MULTILINE,
)
IMPACTS = re.compile(
    r"^impacts +(.+?) m/s: (\d+), (\d+) by .*lost (\S+) of the energy, (\S+) by",
    re.MULTILINE,
)


def output(experiment, program, test, name, everything=True):
    """The output of a test of the suite; its own bounds do not stop the figure."""
    environment = {"LOOM_SAME_PHYSICS": "all", "LOOM_SAME_SOLVERS": " ".join(SOLVERS)} if everything else None
    path = experiment.program(program, [*MANY, test], name, source="tests/physics", environment=environment)
    return path.read_text()


def misses(text):
    """{(solver, contact): [scenes that are off, with their body]} of the compared solvers."""
    found = {}
    for row, body, solver, contact, value, wrong, _ in read_lines(text):
        pair = found.setdefault((solver, contact), [])
        if wrong:
            pair.append(f"{row} {body} {float(value):.2f}")
    return found


def friction(experiment):
    pairs = misses(output(experiment, "test_same_physics", "same_physics/table", "friction.txt"))
    wrong = {pair: rows for pair, rows in pairs.items() if rows}
    for (solver, contact), rows in sorted(wrong.items()):
        print(f"{solver} x {contact}: {', '.join(rows)}")
    return [Bar(f"friction: pairs of {len(pairs)} with a scene more than {FRICTION:g} off theory", len(wrong), 3,
                cause="contact that is frozen at the start of a step, see framework/doc/same-physics.md")]  # fmt: skip


def frames(experiment):
    rows = FRAME.findall(output(experiment, "test_same_physics", "same_physics/frames", "frames.txt"))
    pairs = {row[:2] for row in rows}
    way, pair = max((float(row[2]), row[:2]) for row in rows)
    tolerance = max(float(row[4]) for row in rows)  # its bound is that of tests/physics/test_tolerance.c
    return [
        Bar(
            f"Galilei: {len(pairs)} pairs at 1 m/s along and across, worst {' x '.join(pair)}",
            way,
            FRAMES,
            "m",
        ),
        Bar("Galilei: change of the tolerance, relative", tolerance, 1e-4),
    ]


def steps(text):
    rows = [(solver, dt, float(sag), float(tight), float(energy), int(short))
            for solver, dt, sag, tight, energy, short in FLAG.findall(text)]  # fmt: skip
    ended = [row for row in rows if row[5] == 0]
    worst = max(ended, key=lambda row: abs(row[2] / row[3] - 1))
    told = ", ".join(f"{row[0]} at {row[1]} s" for row in rows if row[5]) or "none"
    return [
        Bar(f"time steps: sag of {len(ended)} flags against a tight tolerance, worst {worst[0]} at {worst[1]} s "
            f"(not converged, as their runs tell: {told})", abs(worst[2] / worst[3] - 1), SAG),
        Bar("time steps: energy above the start", max(row[4] for row in ended), 1e-6, "J"),
    ]  # fmt: skip


def stiffness(text):
    rows = [(float(off), solver, w) for solver, w, off, short in PENDULUM.findall(text) if int(short) == 0]
    off, solver, w = max(rows)
    return [
        Bar(
            f"stiffness: runs of pendulums that converged ({len(rows)}), worst {solver} at {w}",
            off,
            STIFF,
        )
    ]


def far(text):
    rows = [
        (float(mm), solver, contact, way, more)
        for solver, contact, way, mm, _, more in FAR_LINE.findall(text)
    ]
    off, solver, contact, way, more = max(rows)
    above = sorted({f"{row[1]} x {row[2]}" for row in rows if row[0] > FAR})
    return [Bar(f"far objects: {len(rows)} strips, worst {solver} x {contact}, {way}{more}", off, FAR, "mm",
                cause=f"{', '.join(above)}: growing weights have several solutions")]  # fmt: skip


def momentum(experiment):
    text = output(experiment, "test_same_momentum", "same_momentum/table", "momentum.txt")
    rows = {(s, c, v, mu): (float(drift), float(angular), int(passes))
            for s, c, v, mu, drift, angular, _, passes in SHEETS.findall(text)}  # fmt: skip
    held = {}
    for key, row in rows.items():
        newton = rows.get(("cholmod_newton", *key[1:]))
        if newton is None:  # a literal model, which has no energy
            print(
                f"literal {name_sheets(key)}: drift {row[0]:.3g}, angular momentum {row[1]:.3f} of the start"
            )
        elif newton[2]:
            print(f"{name_sheets(key)}: {newton[2]} pairs pass with cholmod_newton, so no bar")
        else:
            held[key] = (row[0], abs(row[1] - newton[1]))
    bars = []
    for solvers, bound in ((DIRECT, DRIFT), (set(SOLVERS) - set(DIRECT), DRIFT_INNER)):
        drift, key = max((row[0], key) for key, row in held.items() if key[0] in solvers)
        bars.append(Bar(f"two sheets: drift over sum m|v|, {', '.join(sorted(solvers))}, worst {name_sheets(key)}",
                        drift, bound, cause=names_above(held, 0, bound, solvers)))  # fmt: skip
    away, key = max((row[1], key) for key, row in held.items())
    return [*bars, Bar(f"two sheets: angular momentum against Newton's, worst {name_sheets(key)}", away, ANGULAR,
                       cause=names_above(held, 1, ANGULAR, SOLVERS))]  # fmt: skip


def name_sheets(key):
    return f"{key[0]} x {key[1]} at {key[2]} m/s, mu {key[3]}"


def names_above(held, place, bound, solvers):
    wrong = [(key, row[place]) for key, row in held.items() if key[0] in solvers and row[place] > bound]
    return "; ".join(f"{name_sheets(key)}: {off:.2g}" for key, off in sorted(wrong))


def impacts(experiment):
    rows = IMPACTS.findall(
        output(
            experiment,
            "test_first_impacts",
            "first_impacts/*",
            "impacts.txt",
            everything=False,
        )
    )
    wrong = max(abs(int(found) - int(exact)) for _, found, exact, _, _ in rows)
    lost = max(abs(float(a) - float(b)) for *_, a, b in rows)
    return [
        Bar(f"impacts: first impacts at {len(rows)} speeds off an exact count", wrong, 0),
        Bar(
            "impacts: share of the kinetic energy that is lost, off an exact solve",
            lost,
            LOST,
        ),
    ]


def bars(experiment):
    found = [*impacts(experiment), *momentum(experiment), *frames(experiment)]
    text = output(
        experiment,
        "test_tolerance_bars",
        "tolerance_bars/*",
        "tolerance.txt",
        everything=False,
    )
    return [*found, *steps(text), *stiffness(text), *far(text), *friction(experiment)]


def physics(experiment):
    experiment.keep_text("physics", [str(bar) for bar in bars(experiment)])


FIGURES = {
    "physics": (
        "friction, momentum, frames, steps and impacts of every method against theory, by tests",
        physics,
    ),
    "physics-bars": ("the same as bars; exit code 1 if one is missed", bars),
}
