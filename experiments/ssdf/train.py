"""Trains shallow networks on the data of `loom ssdf-data`, and writes them for [body.NAME] field.

    python train.py DATA.h5 -o NETS.h5 [--hidden 3] [--width 8] [--activation squareplus] ...

Needs requirements.txt in this folder (JAX and Optax on a CPU).  Weights are linear in the joint
angles (Akar et al. 2024, eq. 3).  One network of a region is trained from several seeds at once; after
a tenth of the steps the best goes on alone.  Stopped, the same command goes on at the last checkpoint.
"""

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path

import h5py
import jax
import jax.numpy as jnp
import numpy as np
import optax

ACTIVATIONS = ["squareplus", "leaky_relu", "softplus", "tanh"]
CLAMP = 0.1  # half sides: further away only the side counts
BATCH = 3200  # samples in a step, evenly from all poses
BLOCK = 250  # steps between two looks at the clock
TEST = 20000  # samples that tell which seed is best


def num_params(hidden, width):
    return 4 * width + (hidden - 1) * (width + 1) * width + width + 1


def split(p, hidden, width):
    """Matrices [out, in] and biases of flat parameters."""
    at, inputs = 0, 3
    for outputs in [width] * hidden + [1]:
        w = p[at : at + inputs * outputs].reshape(outputs, inputs)
        b = p[at + inputs * outputs : at + (inputs + 1) * outputs]
        at, inputs = at + (inputs + 1) * outputs, outputs
        yield w, b


def activate(kind, z):
    if kind == "squareplus":
        return 0.5 * (z + jnp.sqrt(z * z + 0.02))
    if kind == "leaky_relu":
        return jnp.where(z > 0, z, 0.01 * z)
    if kind == "softplus":
        return jax.nn.softplus(10 * z) / 10
    return jnp.tanh(z)


def evaluate(p, x, hidden, width, kind):
    """Values at x [n, 3] of one network with flat parameters."""
    layers = list(split(p, hidden, width))
    for w, b in layers[:-1]:
        x = activate(kind, x @ w.T + b)
    w, b = layers[-1]
    return (x @ w.T + b)[:, 0]


def fold(P, th):
    """Effective parameters [poses, n] of P [1 + dofs, n] at angles th [poses, dofs]."""
    return P[0] + th @ P[1:]


def start(key, dofs, hidden, width):
    """Random parameters [1 + dofs, n]: He's for the first row, small ones for the rows that angles scale."""
    rows = []
    for k in range(1 + dofs):
        parts, inputs = [], 3
        for outputs in [width] * hidden + [1]:
            key, use = jax.random.split(key)
            scale = np.sqrt(2 / inputs) * (1 if k == 0 else 0.1)
            parts += [scale * jax.random.normal(use, (inputs * outputs,)), jnp.zeros(outputs)]
            inputs = outputs
        rows.append(jnp.concatenate(parts))
    return jnp.stack(rows)


def leaky_clamp(value, target):
    """value - clamp(target); 0 where both are beyond the same end.

    The plain clamp has no gradient beyond its ends, and networks that start there stay there."""
    left = value - jnp.clip(target, -CLAMP, CLAMP)
    return jnp.where((jnp.abs(value) > CLAMP) & (value * target > CLAMP * CLAMP), 0, left)


def mirror(P, width):
    """The network of the mirror image in x: angles of both sides have the same sign, so that only
    the weights of the first coordinate change theirs."""
    P = np.array(P)
    P[:, : 3 * width : 3] *= -1
    return P


class Region:
    """Samples of one region; poses have different numbers of them, batches are drawn from each."""

    def __init__(self, group):
        self.name = group.name.strip("/")
        self.attrs = {k: group.attrs[k] for k in group.attrs}
        lo, hi = self.attrs["lo"], self.attrs["hi"]
        scale = lambda a: (2 * a - lo - hi) / (hi - lo)  # angles in [-1, 1]
        self.th = scale(group["angles"][:]).astype("f4")
        self.first = group["first"][:].astype("i4")
        self.x, self.d, self.label = (group[k][:] for k in ("x", "d", "label"))
        self.test_th = scale(group["test_angles"][:]).astype("f4")
        self.test_first = group["test_first"][:]
        self.test_x, self.test_d = group["test_x"][:], group["test_d"][:]
        self.side = 2 * float(np.ravel(self.attrs["half"])[0])

    def reflect(self, twin):
        """Takes the box of its mirror image; points for testing stay where they are."""
        old = {k: np.ravel(self.attrs[k]) for k in ("centre", "half")}
        flip = np.array([-1.0, 1.0, 1.0])
        self.attrs["half"] = twin.attrs["half"]
        self.attrs["centre"] = twin.attrs["centre"] * flip
        lo, hi = twin.attrs["box_lo"] * flip, twin.attrs["box_hi"] * flip
        self.attrs["box_lo"], self.attrs["box_hi"] = np.minimum(lo, hi), np.maximum(lo, hi)
        half, centre = float(np.ravel(self.attrs["half"])[0]), self.attrs["centre"]
        for x, d in ((self.x, self.d), (self.test_x, self.test_d)):
            x[:] = (old["centre"] + old["half"][0] * x - centre) / half
            d *= old["half"][0] / half
        self.side = 2 * half

    def test_errors(self, P, hidden, width, kind):
        """|error| at all points for testing, m."""
        out = []
        for k, th in enumerate(self.test_th):
            a, b = self.test_first[k : k + 2]
            p = np.asarray(P)[0] + th @ np.asarray(P)[1:]
            v = np.asarray(evaluate(jnp.asarray(p), self.test_x[a:b], hidden, width, kind))
            out.append(np.abs(v - self.test_d[a:b]))
        return np.concatenate(out) * 0.5 * self.side

    def test_labels(self, P, hidden, width, kind):
        """Shares of samples with the right label: of samples inside, and of all.  Outside labels are not asked for."""
        right = total = count = 0
        for k, th in enumerate(self.th):
            a, b = self.first[k : k + 2]
            inside = np.flatnonzero(self.d[a:b] < 0) + a
            p = np.asarray(P)[0] + th @ np.asarray(P)[1:]
            v = np.asarray(evaluate(jnp.asarray(p), self.x[inside], hidden, width, kind))
            right += np.count_nonzero((v > 0) == (self.label[inside] > 0))
            total += len(inside)
            count += b - a
        return right / max(total, 1), 1 - (total - right) / max(count, 1)


def make_block(loss_of, optimiser, draw):
    """BLOCK steps of all seeds, compiled as one."""

    def step(carry, key):
        P, state = carry
        batch = draw(key)
        value, grad = jax.vmap(jax.value_and_grad(lambda q: loss_of(q, batch)))(P)
        change, state = jax.vmap(optimiser.update)(grad, state, P)
        return (optax.apply_updates(P, change), state), value

    @jax.jit
    def block(P, state, key):
        (P, state), value = jax.lax.scan(step, (P, state), jax.random.split(key, BLOCK))
        return P, state, value[-1]

    return block


class Progress:
    def __init__(self, what, total):
        self.what, self.total, self.begun, self.next = what, total, time.time(), 0.0

    def __call__(self, step, loss):
        t = time.time()
        if t < self.next and step < self.total:
            return
        self.next = t + (1 if sys.stderr.isatty() else 10)
        left = (t - self.begun) / max(step, 1) * (self.total - step)
        width = 30 * step // self.total
        end = "\r" if sys.stderr.isatty() and step < self.total else "\n"
        bar = "#" * width + "." * (30 - width)
        print(f"{self.what} [{bar}] {step}/{self.total} loss {loss:.3g}, {left:.0f} s left",
              end=end, file=sys.stderr, flush=True)


def train(region, what, args, hidden, width, checkpoint):
    """Parameters [1 + dofs, n] of the best seed, and the errors at args.marks."""
    kind, dofs = args.activation, region.th.shape[1]
    th, first = jnp.asarray(region.th), jnp.asarray(region.first)
    counts = first[1:] - first[:-1]
    x = jnp.asarray(region.x)
    y = jnp.asarray(region.d if what == "distance" else region.label.astype("f4"))

    def draw(key):
        u = jax.random.uniform(key, (len(region.th), max(16, BATCH // len(region.th))))
        at = first[:-1, None] + jnp.minimum((u * counts[:, None]).astype("i4"), counts[:, None] - 1)
        return x[at], y[at]

    def loss(P, batch):
        values = jax.vmap(lambda p, q: evaluate(p, q, hidden, width, kind))(fold(P, th), batch[0])
        if what == "label":
            return jnp.mean((values - batch[1]) ** 2)
        left = leaky_clamp(values, batch[1])
        return jnp.mean(jnp.abs(left) if args.norm == 1 else left * left)

    rate = optax.cosine_decay_schedule(args.rate, args.steps, alpha=0.04)
    optimiser = optax.adam(rate)
    block = make_block(loss, optimiser, draw)
    key = jax.random.PRNGKey(args.seed)
    P = jnp.stack([start(k, dofs, hidden, width) for k in jax.random.split(key, args.seeds)])
    state, step, seen = jax.vmap(optimiser.init)(P), 0, {}
    tree = jax.tree.structure(state)
    spent = 0.0
    if checkpoint.exists():
        with np.load(checkpoint, allow_pickle=False) as f:
            P = jnp.asarray(f["P"])
            leaves = [jnp.asarray(f[f"s{k}"]) for k in range(tree.num_leaves)]
            state, step = jax.tree.unflatten(tree, leaves), int(f["step"])
            seen, spent = json.loads(str(f["seen"])), float(f["spent"])
    told = Progress(f"{region.name} {what} {num_params(hidden, width)}", args.steps)
    saved, begun = time.time(), time.process_time()
    while step < args.steps:
        P, state, value = block(P, state, jax.random.fold_in(key, step))
        step += BLOCK
        if step * 10 >= args.steps and P.shape[0] > 1:  # the best seed goes on
            best = int(jnp.argmin(score(region, what, P, hidden, width, args)))
            P, state, value = jax.tree.map(lambda a: a[best : best + 1], (P, state, value))
        if str(step) not in seen and step in args.marks and what == "distance":
            e = region.test_errors(P[0], hidden, width, kind)
            seen[str(step)] = [float(e.mean()), float(np.quantile(e, 0.99)), float(e.max())]
            np.save(checkpoint.with_suffix(f".{step}.npy"), np.asarray(P[0]))
        told(step, float(jnp.min(value)))
        if time.time() - saved > 20 or step >= args.steps:
            saved = time.time()
            save(checkpoint, P, state, step, seen, spent + time.process_time() - begun)
    return np.asarray(P[0]), seen, spent + time.process_time() - begun


def score(region, what, P, hidden, width, args):
    """Mean error of every seed on samples drawn evenly."""
    rng = np.random.default_rng(1)
    pose = rng.integers(len(region.th), size=64)
    out = np.zeros(P.shape[0])
    for k in pose:
        a, b = region.first[k : k + 2]
        at = rng.integers(a, b, size=TEST // 64)
        for s in range(P.shape[0]):
            p = np.asarray(P[s])[0] + region.th[k] @ np.asarray(P[s])[1:]
            v = np.asarray(evaluate(jnp.asarray(p), region.x[at], hidden, width, args.activation))
            if what == "label":
                out[s] += np.mean((v - region.label[at]) ** 2)
            else:
                y = np.clip(region.d[at], -CLAMP, CLAMP)
                out[s] += np.abs(np.clip(v, -CLAMP, CLAMP) - y).mean()
    return jnp.asarray(out)


def save(path, P, state, step, seen, spent):
    leaves = {f"s{k}": np.asarray(v) for k, v in enumerate(jax.tree.leaves(state))}
    part = path.with_suffix(".part.npz")
    np.savez(part, P=np.asarray(P), step=step, seen=json.dumps(seen), spent=spent, **leaves)
    part.replace(path)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def write(path, data, results, args):
    """The file that [body.NAME] field reads; see framework/ssdf/net.h."""
    part = Path(f"{path}.part")
    fixed = lambda a: np.bytes_(str(a))  # of fixed length, as loom reads texts
    files = {k: Path(vars(args)[k]).name for k in ("data", "out")}
    told = {"settings": text(data.attrs["settings"]), "train": vars(args) | files}
    with h5py.File(part, "w") as f:
        f.attrs.update(format=fixed("loom-ssdf-net"), version=1,
                       body=fixed(text(data.attrs["body"])),
                       body_hash=fixed(text(data.attrs["body_hash"])),
                       activation=fixed(args.activation),
                       provenance=fixed(json.dumps(told, default=str)))
        for region, nets, seen in results:
            g = f.create_group(region.name)
            for k in ("joint", "frame"):
                g.attrs[k] = fixed(text(region.attrs[k]))
            g.attrs["dofs"] = np.array([fixed(text(v)) for v in region.attrs["dofs"]])
            for k in ("lo", "hi", "centre", "box_lo", "box_hi"):
                g.attrs[k] = region.attrs[k]
            half, margin = (float(np.ravel(region.attrs[k])[0]) for k in ("half", "margin"))
            g.attrs.update(half=half, margin=margin, clamp=CLAMP * half)
            for what, (hidden, width, P, cpu) in nets.items():
                d = g.create_dataset(what, data=P.astype("f4"))
                d.attrs.update(hidden=hidden, width=width, cpu_seconds=cpu)
            for k, v in seen.items():
                g.attrs[k] = fixed(v) if isinstance(v, str) else v
    part.replace(path)


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("data", help="file of loom ssdf-data")
    p.add_argument("-o", dest="out", required=True, help="networks to write, .h5")
    p.add_argument("--hidden", type=int, default=3)
    p.add_argument("--width", type=int, default=8)
    p.add_argument("--activation", choices=ACTIVATIONS, default="squareplus")
    p.add_argument("--norm", type=int, choices=[1, 2], default=1, help="of the loss")
    p.add_argument("--steps", type=int, default=20000)
    p.add_argument("--rate", type=float, default=5e-3, help="of Adam; falls to a 25th")
    p.add_argument("--seeds", type=int, default=4)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--regions", nargs="*", help="only these")
    p.add_argument("--region-width", nargs="*", default=[], metavar="REGION=WIDTH",
                   help="another width for the distance of a region")
    p.add_argument("--mirror", action="store_true",
                   help="train what is called left_... alone; right_... is its mirror image in x")
    p.add_argument("--no-labels", action="store_true", help="distances only")
    p.add_argument("--marks", type=int, nargs="*", default=[], help="steps to keep and measure")
    args = p.parse_args(argv)
    if args.steps % BLOCK:
        p.error(f"--steps must be a multiple of {BLOCK}")
    return args


def main(argv=None):
    args = parse(argv)
    results, done = [], {}
    widths = {k: int(v) for k, v in (w.split("=") for w in args.region_width)}
    with h5py.File(args.data) as data:
        known = [k for k in data if args.regions is None or k in args.regions]
        if not known:
            sys.exit(f"train.py: {args.data} has the regions {', '.join(data)}")
        own = {k: v for k, v in vars(args).items() if k not in ("mirror", "region_width", "out")}
        stamp = json.dumps([text(data.attrs["settings"]), text(data.attrs["body_hash"]), own],
                           default=str, sort_keys=True)
        stamp = hashlib.sha256(stamp.encode()).hexdigest()[:12]
        folder = Path(args.out).with_suffix(".train")
        folder.mkdir(parents=True, exist_ok=True)
        for name in known:
            region, nets, seen = Region(data[name]), {}, {}
            wanted = [("distance", args.hidden, widths.get(name, args.width))]
            if not args.no_labels:
                wanted.append(("label", 2, args.width))
            twin = name.replace("right_", "left_")
            mirrored = args.mirror and twin != name
            if mirrored:
                region.reflect(done[twin]["region"])
            for what, hidden, width in wanted:
                mark = folder / f"{name}-{what}-{width}-{stamp}.npz"
                if mirrored:
                    hidden, width, P, cpu = done[twin][what]
                    P, marks = mirror(P, width), {}
                else:
                    P, marks, cpu = train(region, what, args, hidden, width, mark)
                nets[what] = (hidden, width, P, cpu)
                if what == "label":
                    seen["label_inside"], seen["label_accuracy"] = region.test_labels(
                        P, hidden, width, args.activation)
                    continue
                e = region.test_errors(P, hidden, width, args.activation)
                seen.update(error_mean=e.mean(), error_p99=np.quantile(e, 0.99), error_max=e.max())
                seen["marks"] = json.dumps(marks)
                print(f"{name}: {num_params(hidden, width)} parameters, error near the skin: mean "
                      f"{1e3 * e.mean():.2f} mm ({100 * e.mean() / region.side:.3f} % of the side), "
                      f"p99 {1e3 * np.quantile(e, 0.99):.1f} mm, max {1e3 * e.max():.0f} mm; "
                      f"{cpu:.0f} s of processor time")
            if "label_accuracy" in seen:
                print(f"{name}: labels {100 * seen['label_inside']:.2f} % right inside, "
                      f"{100 * seen['label_accuracy']:.2f} % of all samples")
            done[name] = nets | {"region": region}
            results.append((region, nets, seen))
        write(args.out, data, results, args)
    print(f"{args.out}: {len(results)} regions")


if __name__ == "__main__":
    main()
