"""A fabric measured in loom's own laboratory: does the fit find its curves again, and which does it miss?"""

import shutil

import numpy as np

from loomcloth.experiment import ROOT, Bar
from loomcloth.fabric import check, fit, material, measured, model, plate, strips
from loomcloth.fabric.measured import Fabric

TRUTH, OTHER = "pink-ribbon-brown-plate", "white-swim-solid-plate"
POISSON = 0.3  # of bending, of the truth: the shipped file has none
ANGLES, SLANTED = (0, 45, 90), (67.5,)
SEED, NOISE, SIDE_NOISE, LENGTH_NOISE = 2011, 0.02, 0.002, 0.01  # of forces, of widths, of bending lengths (RMS)
MOST = 0.16  # strain of the last reading
READINGS, DRAWINGS = 16, 8
PULLED, PIECES = 5, 6  # strips of each kind that are pulled (their mean is read) and hung over the edge
HUNG = ((0, 0.025), (45, 0.025), (90, 0.025), (0, 0.01), (90, 0.01), (0, 0.1), (90, 0.1))  # degrees, width (m)
BESIDE = "at the last reading rows beside take part, which three strips leave open; 2.1 % are there without noise"


def text_of(name):
    """The file of a shipped fabric; the truth's has Poisson's ratio, too."""
    text = (ROOT / f"configs/materials/{name}.ini").read_text()
    return text + (f"bending_poisson = {POISSON}\n" if name == TRUTH else "")


def tables(name):
    """Table of stretching, plate, and density (kg/m^2) of a material."""
    from loomcloth.config import flat

    found = flat(text_of(name))

    def numbers(key, n):
        return [float(w) for w in found.get(f"material.{key}", "0").split()[:n]]

    stretch = np.array([numbers(f"stretch_{r}", 4) for r in model.STRETCH])
    bend = np.array([numbers(key, 1)[0] for key in plate.NAMES])
    return stretch, plate.Plate(bend, np.ones(4, bool), stretch), numbers("density", 1)[0]


def laboratory(experiment, name):
    """The folder in which strips of a shipped fabric are tested."""
    folder = experiment.out / "materials"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.ini").write_text(text_of(name))
    return experiment.out


def note(experiment, name):
    """Names the runs of a material, which the index of results wants to know."""
    for path in experiment.out.glob(f"{name}-*deg*.h5"):
        if ".check" not in path.name:
            scene = "overhang.ini" if "-over" in path.stem else "strip.ini"
            experiment.read[path] = experiment.folder / scene


def readings(experiment, name):
    """Readings of ideal instruments on a shipped fabric: strips by angle, bending lengths (m) by angle and width."""
    stretch, bend, density = tables(name)
    folder = laboratory(experiment, name)
    pulled, lengths = {}, {}
    for a in ANGLES:
        most = model.tension(stretch, a, np.array([MOST]))[0][0]
        pulled[a] = strips.pull(folder, name, density, a, most)
    for a, width in HUNG:
        guess = (bend.rigidity(a, np.array([50.0]), width)[0] / (density * strips.G)) ** (1 / 3)
        lengths[a, width] = strips.bending_length(folder, name, a, guess, bend.edge, width)
    note(experiment, name)
    return density, pulled, lengths


def noise_of_mean(chance, count, readings):
    """Noise of each reading of the mean of `count` strips with a noise of 1."""
    return chance.standard_normal((count, readings)).mean(axis=0)


def sheet(name, density, pulled, lengths):
    """Lines of the CSV file: the readings with noise."""
    chance = np.random.default_rng(SEED)
    lines = [
        f"# Simulated measurements of configs/materials/{name}.ini with bending_poisson = {POISSON}: the mean of {PULLED} strips",
        f"# pulled in each direction, and {PIECES} of each width and direction hung over an edge.  A strip has noise of {100 * NOISE:g} % of a",
        f"# force, {100 * SIDE_NOISE:g} % of a width and {100 * LENGTH_NOISE:g} % of a length (RMS, seed {SEED}).",
        "# Made by `./loom figure fabric-measure --update`.",
        "test,density (g/m^2),angle (deg),strain (%),force (N/m),contraction (%),length (mm),width (mm)",
        f"weight,{1000 * density:g}",
    ]
    for a, p in pulled.items():
        strain = np.linspace(p.strain[0], min(MOST, p.strain[-1]), READINGS)
        force = np.interp(strain, p.strain, p.force) * (1 + NOISE * noise_of_mean(chance, PULLED, READINGS))
        side = np.interp(strain, p.strain, p.contraction) + SIDE_NOISE * noise_of_mean(chance, PULLED, READINGS)
        lines += [f"tension,,{a},{100 * e:.2f},{f:.3f},{100 * s:.2f}" for e, f, s in zip(strain, force, side)]
    for (a, width), c in lengths.items():
        for _ in range(PIECES):
            length = 1000 * c * (1 + LENGTH_NOISE * chance.standard_normal())
            lines.append(f"cantilever,,{a},,,,{length:.2f},{1000 * width:g}")
    return lines


def measure(experiment):
    """Makes measured.csv."""
    if experiment.plan:
        print(f"would pull and bend strips of {TRUTH}")
        return
    lines = sheet(TRUTH, *readings(experiment, TRUTH))
    path = experiment.out / "measured.csv"
    path.write_text("\n".join(lines) + "\n")
    print(*lines, path, sep="\n")
    if experiment.update:
        shutil.copyfile(path, experiment.folder / "measured.csv")
        print(experiment.folder / "measured.csv")


def fitted(experiment):
    """The fit of measured.csv and its material, in out/materials/."""
    fabric = measured.read(str(experiment.folder / "measured.csv"))
    found = fit.fit(fabric)
    path = experiment.out / "materials/fitted.ini"
    path.parent.mkdir(exist_ok=True)
    path.write_text(material.text(fabric, found, "fitted"))
    return fabric, found, path


def distance(found, stretch, angle):
    """Largest distance of two curves of tension over the largest force of the second."""
    strain = np.linspace(0.005, MOST, 60)
    have, want = (model.tension(rows, angle, strain)[0] for rows in (found, stretch))
    return float(np.nanmax(np.abs(have - want)) / np.nanmax(want))


def picture(experiment):
    if experiment.plan:
        print("would pull and bend strips of the fit of measured.csv")
        return
    fabric, found, path = fitted(experiment)
    seen = check.check(path, fabric, found, experiment.out)
    note(experiment, "fitted")
    experiment.save(check.draw(fabric, found, seen), "fabric-fit", keep=True)
    stretch, bend, _ = tables(TRUTH)
    lines = [f"measured.csv, simulated measurements of {TRUTH} with noise, fitted by `./loom fabric`",
             "test at angle              residual (RMS)  from the truth (largest)"]
    for c in fabric.of("tension"):
        lines.append(f"{c.name:26} {100 * found.off[c.name]:7.2f} %       {100 * distance(found.stretch, stretch, c.angle):7.2f} %")
    for a in SLANTED:
        lines.append(f"tension at {a:g} deg          not measured {100 * distance(found.stretch, stretch, a):9.2f} %")
    for c in found.bent:
        have, want = (t.rigidity(c.angle, np.array(c.x), c.width)[0] for t in (found.bending, bend))
        lines.append(f"{c.name:30} {100 * found.off[c.name]:7.2f} %   {100 * abs(have / want - 1):7.2f} %")
    lines += seen.lines()
    lines.append(f"{DRAWINGS} other drawings of the noise: from the truth, least to most")
    one = drawn(fabric, DRAWINGS, strips_pulled=1)
    lines += [f"tension at {a:g} deg: {min(v):.2f} to {max(v):.2f} %, of single strips {min(one[a]):.2f} to {max(one[a]):.2f} %"
              for a, v in drawn(fabric, DRAWINGS).items()]
    lines.append("numbers of the tables: fitted, true (* assumed)")
    for name, rows, truth, sure in zip(model.STRETCH, found.stretch, stretch, found.stretch_sure):
        pairs = [f"{v:8.2f}{' ' if ok else '*'} {t:8.2f}" for v, t, ok in zip(rows, truth, sure)]
        lines.append(f"{'stretch_' + name:13}" + "   ".join(pairs))
    for name, v, t, ok in zip(plate.NAMES, found.bending.values, bend.values, found.bending.sure):
        lines.append(f"{name:15} {v:12.4g}{' ' if ok else '*'} {t:12.4g}")
    experiment.keep_text("fabric-fit", lines)


def twice(fabric):
    """The same measurements of a fabric twice as stiff."""
    by = {"tension": 2, "cantilever": 2 ** (1 / 3)}
    curves = [
        measured.Curve(c.test, c.angle, c.x, [by[c.test] * y for y in c.y], c.side, c.width) for c in fabric.curves
    ]
    return Fabric(fabric.path, fabric.density, curves)


def drawn(fabric, count, strips_pulled=PULLED):
    """{angle: distances (%)} of fits to as many other drawings of the noise."""
    stretch = tables(TRUTH)[0]
    found = {a: [] for a in (*ANGLES, *SLANTED)}
    for seed in range(count):
        chance, curves = np.random.default_rng(seed), []
        for c in fabric.of("tension"):
            force, side = model.tension(stretch, c.angle, np.array(c.x))
            force = force * (1 + NOISE * noise_of_mean(chance, strips_pulled, len(c.x)))
            side = side + SIDE_NOISE * noise_of_mean(chance, strips_pulled, len(c.x))
            curves.append(measured.Curve(c.test, c.angle, c.x, list(force), list(side)))
        rows = fit.fit_stretch(curves)[0]
        for a in found:
            found[a].append(100 * distance(rows, stretch, a))
    return found


def bars(experiment):
    if experiment.plan:
        print("would pull and bend strips of three fabrics")
        return []
    fabric, found, path = fitted(experiment)
    seen = check.check(path, fabric, found, experiment.out)
    stretch, bend, density = tables(TRUTH)
    doubled, others = fit.fit(twice(fabric)), drawn(fabric, DRAWINGS)
    other = tables(OTHER)[0]
    out = []
    for c in fabric.of("tension"):
        truth = strips.pull(laboratory(experiment, TRUTH), TRUTH, density, c.angle, max(c.y))
        p = next(p for p in seen.pulled if p.angle == c.angle)
        strain = truth.strain[truth.strain <= MOST]
        apart = np.abs(np.interp(strain, p.strain, p.force) - truth.force[: len(strain)]).max() / max(c.y)
        out += [
            Bar(f"{c.name}: residual of the fit (RMS)", 100 * found.off[c.name], 2, "%"),
            Bar(f"{c.name}: fitted from true curve, of the largest force", 100 * distance(found.stretch, stretch, c.angle), 3, "%", cause=BESIDE),
            Bar(f"{c.name}: simulated strip of the fit from one of the true fabric", 100 * apart, 3, "%", cause=BESIDE),
            Bar(f"{c.name}: fitted from true curve, most of {DRAWINGS} drawings of noise", max(others[c.angle]), 3, "%", cause=BESIDE),
            Bar(f"{c.name}: simulated strip from the model", 100 * seen.off[c.name], 2, "%"),
            Bar(f"control, {c.name}: twice as stiff", 100 * distance(doubled.stretch, stretch, c.angle), 30, "%", least=True),
            Bar(f"control, {c.name}: the fabric {OTHER}", 100 * distance(other, stretch, c.angle), 30, "%", least=True),
        ]
    for c in found.bent:
        have, want, twofold = (
            t.rigidity(c.angle, np.array(c.x), c.width)[0] for t in (found.bending, bend, doubled.bending)
        )
        out += [
            Bar(f"{c.name}: fitted from true rigidity", 100 * abs(have / want - 1), 3, "%"),
            Bar(f"control, {c.name}: twice as stiff", 100 * abs(twofold / want - 1), 50, "%", least=True),
            Bar(f"{c.name}: overhang from 41.5 degrees", abs(seen.fell[c.name] - strips.PEIRCE), 2, "deg"),
        ]
    narrow = fit.fit(Fabric(fabric.path, fabric.density, [c for c in fabric.curves if not c.width > 0.03 and not c.width < 0.02]))
    for k, name in enumerate(plate.NAMES[:3]):
        out.append(Bar(f"{name}: fitted from true", 100 * abs(found.bending.values[k] / bend.values[k] - 1), 3, "%"))
    out += [
        Bar(f"{plate.NAMES[3]}: fitted from true", abs(found.bending.values[3] - bend.values[3]), 0.1, "1"),
        Bar("control, strips of one width: bending_poisson from true", abs(narrow.bending.values[3] - bend.values[3]), 0.1, "1", least=True),
    ]
    return out


FIGURES = {
    "fabric-measure": ("simulated measurements of a shipped fabric, with noise: measured.csv", measure),
    "fabric-fit": ("measured, fitted and simulated curves of measured.csv, and what the fit misses", picture),
    "fabric-bars": ("distance of the fit from the fabric that was measured, and of a wrong one", bars),
}
