"""The scene of a log as a lit VTK scene: cloth, bodies, floor, camera."""

import numpy as np
import pyvista as pv
import vtk

from loomcloth.bodies import body_mesh, creased, disc, moves_inside, placed, triangles_to_faces
from loomcloth.camera import direction, fitted
from loomcloth.checks import LARGEST, drawable
from loomcloth.log import LogError
from loomcloth.sheet import smoothed
from loomcloth.yarns import Yarns

CLOTHS = (("#d0573c", "#e7a27c"), ("#3f7ca8", "#8fb6cf"), ("#6a9a4f", "#b3cc96"))  # front, back
BODY = "#b9b4aa"
UNKNOWN = "#8f8f8f"  # of vertices that have no known value
SKY = "#e9e8e4"  # of the background, and of the floor where it is lit
FILLS = (  # turn from the camera and elevation in degrees, strength, colour
    (75, 30, 0.30, "#e8f0ff"),
    (180, 40, 0.20, "#ffffff"),
)
KEY = (-50, 50, 0.72, "#fff6e8")
FLOOR_REACH = 6.0
LIGHT_DISTANCE = 80.0  # all in radii of the scene
# Samples of a pixel, in pixels from its middle.  Each is a picture: one of twice the side took 1 GB more.
SAMPLES = ((-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25))
CREASE = 55.0  # degrees; sharper edges stay edges


def weave(cells=8, pixels=8):
    """A tile of plain weave, nearly white: it modulates the colour of the cloth."""
    u = (np.arange(pixels) + 0.5) / pixels
    bump = np.sin(np.pi * u)
    warp = np.outer(bump, np.ones(pixels))
    tile = np.block([[warp, warp.T], [warp.T, warp]])
    tile = np.tile(tile, (cells // 2, cells // 2))
    grey = np.clip(255 * (0.86 + 0.14 * tile), 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def floor_image(tiles, pixels=4096):
    """Soft lines of a grid of so many tiles, which fade out towards the border."""
    u = np.linspace(-0.5, 0.5, pixels)[pixels // 2 :]  # one quarter; the others are its mirror images
    line = np.abs(u * tiles - np.round(u * tiles)) * (pixels / tiles)  # pixels from a line
    ink = np.clip(1.5 - line, 0, 1)
    ink = np.maximum(ink[:, None], ink[None, :])
    ink *= np.clip(1.2 - 3.2 * np.hypot(u[:, None], u[None, :]), 0, 1)
    grey = (255 - 20 * ink).astype(np.uint8)
    grey = np.block([[grey[::-1, ::-1], grey[::-1]], [grey[:, ::-1], grey]])
    return np.repeat(grey[:, :, None], 3, axis=2)


def texture(image, repeat=True):
    t = pv.Texture(np.ascontiguousarray(image))
    t.repeat = repeat
    t.mipmap = True
    t.interpolate = True
    return t


def flat_coordinates(rest):
    """[n][2], m: coordinates in the plane of a flat rest shape, None if it is not flat."""
    c = rest - rest.mean(axis=0)
    _, s, axes = np.linalg.svd(c, full_matrices=False)
    return c @ axes[:2].T if s[2] < 1e-6 * s[0] else None


vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_ERROR)


def bounds(log, frames):
    """Corners [2][3] of the box around the frames and all bodies but planes, m."""
    some = [frames[i] for i in np.unique(np.linspace(0, len(frames) - 1, 40).astype(int))]
    points = [log.frame(i) for i in some]
    for body in log.obstacles():
        for i in (some[0], some[-1]):
            mesh = body_mesh(body, i, float(log.times[i]))
            if mesh is None or mesh.n_points == 0:
                break
            points.append(placed(mesh.points, body.matrix(i)))
    points = np.vstack(points)
    if not drawable(points):
        points = points[(np.abs(points) <= LARGEST).all(axis=1)]
    if len(points) == 0:
        raise LogError(f"{log.path}: no position can be drawn; `loom verify` names the vertices")
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array([low, high] if (high > low).any() else [low - 0.5, high + 0.5])


class View:
    """Draws frames of one log with one camera that sees all that are asked for.

    box: [2][3] m, shown instead of the frames' own bounds, for example the bounds of several logs;
    camera: used instead of the one that angles and zoom fit to the box.
    lamps: samples of the key light, which make its shadows soft; 0: no shadows, no ambient
    occlusion.
    quick: one sample for each pixel, and edges smoothed afterwards: a picture of a movie.
    """

    def __init__(
        self, log, frames, size, angles, zoom=1.0, wireframe=False, lamps=8, box=None, camera=None,
        quick=False,
    ):  # fmt: skip
        self.quick = quick
        self.log = log
        self.up_axis = log.up_axis
        self.bodies = log.obstacles()
        tris = log.scene("triangles")
        self.yarns = Yarns(log)
        if (tris is None or len(tris) == 0) and self.yarns.count == 0:
            raise LogError(f"{log.path}: neither triangles nor yarns to draw")
        self.tris = np.zeros((0, 3), dtype=np.int32) if tris is None else tris
        self.box = bounds(log, frames) if box is None else box
        self.middle = self.box.mean(axis=0)
        self.radius = 0.5 * np.linalg.norm(self.box[1] - self.box[0])
        self.size = size  # width, height; drawn square, because VTK's shadow maps want that
        self.camera = camera or fitted(self.box, self.up_axis, angles, size[0] / size[1], zoom)
        self.angles = self.camera.angles(self.up_axis)
        self.plot = pv.Plotter(off_screen=True, window_size=[max(size)] * 2, lighting="none")
        self.plot.render_window.SetMultiSamples(0)  # render passes have no use for them
        self.plot.set_background(SKY)
        self._add_bodies()
        self._add_cloths(wireframe)
        self._add_yarns()
        self._light(max(lamps, 1))
        self._look()
        if lamps > 0:
            self._passes()
        self.shown = False
        self.dye = None  # of yarns: values, limits, colours

    # ---- content ----
    def _add_bodies(self):
        self.actors = []
        for body in self.bodies:
            if body.kind == "plane":
                self.actors.append((self._add_floor(body), body))
                continue
            mesh = body_mesh(body)
            if mesh is None or mesh.n_points == 0:
                continue
            actor = self.plot.add_mesh(
                creased(mesh), color=BODY, smooth_shading=True, ambient=0.15, diffuse=0.85, specular=0.18,
                specular_power=20,
            )
            self.actors.append((actor, body))

    def _add_floor(self, body):
        """A disc around the scene; its far parts take the colour of the background."""
        m = body.matrix(0)
        normal = body.shape[:3] / np.linalg.norm(body.shape[:3])
        reach = FLOOR_REACH * self.radius
        plane = disc(body, self.middle, reach)
        middle = np.asarray(plane.points).mean(axis=0)
        along = np.linalg.svd(normal[None, :])[2][1:]
        plane.active_texture_coordinates = (plane.points - middle) @ along.T / (2 * reach) + 0.5
        look = {"ambient": 0.35, "diffuse": 0.75, "specular": 0.0}
        lit = look["ambient"] + look["diffuse"] * self._irradiance(m[:3, :3] @ normal)
        colour = np.clip(np.array(pv.Color(SKY).float_rgb) / lit, 0, 1)
        tile = floor_image(2 * reach / self._tile(), 2048 if self.quick else 4096)
        return self.plot.add_mesh(plane, color=colour, texture=texture(tile, False), **look)

    def _irradiance(self, normal):
        """Light of all lamps on a plane, per colour channel."""
        total = np.zeros(3)
        for turn, elevation, strength, colour in (KEY, *FILLS):
            cosine = max(0.0, normal @ self._direction(self.angles[0] + turn, elevation))
            total += strength * cosine * np.array(pv.Color(colour).float_rgb)
        return total

    def _tile(self):
        """Side of a floor tile: a power of ten, or 2 or 5 times it, near half the radius."""
        raw = 0.5 * self.radius
        ten = 10.0 ** np.floor(np.log10(raw))
        return max(f * ten for f in (1.0, 2.0, 5.0) if f * ten <= raw)

    def _add_cloths(self, wireframe):
        x = self.log.frame(0)
        rest = self.log.scene("rest", x)
        owner = self.log.scene("object", np.zeros(len(x), dtype=int))
        self.cloths = []
        for k, name in enumerate(np.unique(owner[self.tris[:, 0]])):
            tris = self.tris[owner[self.tris[:, 0]] == name]
            used, local = np.unique(tris, return_inverse=True)
            mesh = pv.PolyData(x[used], triangles_to_faces(local.reshape(tris.shape)))
            uv = flat_coordinates(rest[used])
            if uv is not None:
                # threads of 1/400 of the cloth: seen close by, a tint from afar
                mesh.active_texture_coordinates = uv / (np.ptp(uv) / 50.0)
            front, back = CLOTHS[k % len(CLOTHS)]
            shown = self._shaded(mesh)
            actor = self.plot.add_mesh(
                shown, color=front, smooth_shading=True, ambient=0.2, diffuse=1.0, specular=0.06,
                specular_power=6, texture=texture(weave()) if uv is not None else None,
                show_edges=wireframe, edge_color="#5a2a1c", line_width=1,
            )
            inside = vtk.vtkProperty()
            inside.DeepCopy(actor.prop)
            inside.SetColor(pv.Color(back).float_rgb)
            actor.SetBackfaceProperty(inside)
            self.cloths.append((actor, mesh, used))

    def _add_yarns(self):
        """One actor for the yarns of each object; several yarns of one take turns in colour."""
        self.ropes = []
        for k in range(self.yarns.count):
            turn = k + len(self.cloths) if self.yarns.count <= 8 else int(self.yarns.object[k])
            colour = turn % len(CLOTHS)
            same = [r for r in self.ropes if r[2] == colour]
            if same:
                same[0][1].append(k)
            else:
                self.ropes.append([None, [k], colour])
        x = self.log.frame(0)
        for rope in self.ropes:
            rope[0] = self.plot.add_mesh(
                self.yarns.mesh(x, rope[1]), color=CLOTHS[rope[2]][0], smooth_shading=True,
                ambient=0.2, diffuse=1.0, specular=0.06, specular_power=6,
            )

    @staticmethod
    def _shaded(mesh):
        return mesh.compute_normals(
            split_vertices=True, feature_angle=CREASE, consistent_normals=False,
            auto_orient_normals=False,
        )

    def paint(self, values, low, high, colours="viridis"):
        """Cloths in the colours of values [n], low to high, instead of their own."""
        for actor, mesh, used in self.cloths:
            mesh.point_data["paint"] = np.clip(values[used], low, high)
            actor.texture = None
            actor.SetBackfaceProperty(None)
            actor.mapper.dataset = self._shaded(mesh)
            actor.mapper.set_scalars(
                np.asarray(actor.mapper.dataset["paint"]), "paint", cmap=colours,
                clim=(low, high), nan_color=UNKNOWN,
            )
            actor.mapper.scalar_visibility = True  # it was made with one colour

    def paint_yarns(self, values, low, high, colours="viridis"):
        """Yarns in the colours of values [n] of their vertices, low to high."""
        self.dye = np.clip(values, low, high), (low, high), colours

    # ---- light and camera ----
    def _direction(self, azimuth, elevation):
        return direction(self.up_axis, azimuth, elevation)

    def _look(self):
        self.plot.camera.position = self.camera.position
        self.plot.camera.focal_point = self.camera.target
        self.plot.camera.up = self.camera.up
        half = np.radians(self.camera.view_angle) / 2
        square = max(self.size) / self.size[1]
        self.plot.camera.view_angle = 2 * np.degrees(np.arctan(square * np.tan(half)))
        self.plot.reset_camera_clipping_range()

    def _light(self, samples):
        """A key light of some breadth, whose samples cast shadows, and two fills."""
        turn, elevation, strength, colour = KEY
        for i in range(samples):
            # points of a sunflower disc, 5 degrees in radius
            r, a = 5.0 * np.sqrt((i + 0.5) / samples) if samples > 1 else 0.0, 2.39996 * i
            light = pv.Light(color=colour, intensity=strength / samples, light_type="scene light")
            light.focal_point = self.middle
            light.position = self.middle + LIGHT_DISTANCE * self.radius * self._direction(
                self.angles[0] + turn + r * np.cos(a), elevation + r * np.sin(a)
            )
            # a cone that just holds the floor: the whole shadow map is used
            light.positional, light.exponent = True, 0
            light.cone_angle = np.degrees(np.arctan(1.1 * FLOOR_REACH / LIGHT_DISTANCE))
            self.plot.add_light(light)
        for turn, elevation, strength, colour in FILLS:
            light = pv.Light(color=colour, intensity=strength, light_type="scene light")
            # far away and all around: this light casts no shadow
            light.positional, light.cone_angle = True, 180
            light.position = self.middle + LIGHT_DISTANCE * self.radius * self._direction(
                self.angles[0] + turn, elevation
            )
            self.plot.add_light(light)

    def _passes(self):
        """Shadows, ambient occlusion, several samples per pixel."""
        shadows = self.plot.renderer._render_passes.enable_shadow_pass()
        shadows.GetShadowMapBakerPass().SetResolution(1024 if self.quick else 2048)
        shadows.GetShadowMapBakerPass().SetExponentialConstant(60)
        self.plot.enable_ssao(
            radius=0.15 * self.radius, bias=0.004 * self.radius, kernel_size=4 if self.quick else 64,
            blur=True,
        )

    def _draw_yarns(self, actor, x, yarns):
        if self.dye is None:
            actor.mapper.dataset = self.yarns.mesh(x, yarns)
            return
        values, limits, colours = self.dye
        mesh = self.yarns.mesh(x, yarns, values)
        actor.mapper.dataset = mesh
        actor.mapper.set_scalars(np.asarray(mesh["paint"]), "paint", cmap=colours, clim=limits,
                                 nan_color=UNKNOWN)
        actor.mapper.scalar_visibility = True

    # ---- drawing ----
    def image(self, frame):
        """[height][width][3] bytes."""
        x = self.log.drawn(frame)
        for actor, mesh, used in self.cloths:
            mesh.points = x[used]
            actor.mapper.dataset = self._shaded(mesh)
        for actor, yarns, _ in self.ropes:
            self._draw_yarns(actor, x, yarns)
        for actor, body in self.actors:
            actor.user_matrix = body.matrix(frame)
            if moves_inside(body):
                time = float(self.log.times[frame])
                actor.mapper.dataset = creased(body_mesh(body, frame, time))
        side = max(self.size)
        (w, h), left, top = self.size, (side - self.size[0]) // 2, (side - self.size[1]) // 2

        def sample(at):
            self.plot.camera.SetWindowCenter(2 * at[0] / side, 2 * at[1] / side)
            if self.shown:
                self.plot.render()
            self.shown = True
            image = self.plot.screenshot(return_img=True)  # renders the first time
            return image[top : top + h, left : left + w]

        if self.quick:
            return smoothed(sample((0.0, 0.0)))
        total = np.zeros((h, w, 3), dtype=np.uint16)
        for at in SAMPLES:
            total += sample(at)
        return (total // len(SAMPLES)).astype(np.uint8)

    def close(self):
        """Gives its memory back."""
        self.plot.close()
        self.plot.deep_clean()
