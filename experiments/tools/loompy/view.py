"""The scene of a log as a lit VTK scene: cloth, bodies, floor, camera."""

import numpy as np
import pyvista as pv
import vtk

from loompy.log import LogError
from loompy.yarns import Yarns

CLOTHS = (("#d0573c", "#e7a27c"), ("#3f7ca8", "#8fb6cf"), ("#6a9a4f", "#b3cc96"))  # front, back
BODY = "#b9b4aa"
SKY = "#e9e8e4"  # of the background, and of the floor where it is lit
FILLS = (  # turn from the camera and elevation in degrees, strength, colour
    (75, 30, 0.30, "#e8f0ff"),
    (180, 40, 0.20, "#ffffff"),
)
KEY = (-50, 50, 0.72, "#fff6e8")
FLOOR_REACH = 6.0
LIGHT_DISTANCE = 80.0  # all in radii of the scene
OVER = 2  # samples per pixel side
CREASE = 55.0  # degrees; sharper edges stay edges


def triangles_to_faces(tris):
    return np.column_stack([np.full(len(tris), 3, dtype=np.int64), tris]).ravel()


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
    u = np.abs(np.linspace(-0.5, 0.5, pixels))
    line = np.abs(u * tiles - np.round(u * tiles)) * (pixels / tiles)  # pixels from a line
    ink = np.clip(1.5 - line, 0, 1)
    ink = np.maximum(ink[:, None], ink[None, :])
    ink *= np.clip(1.2 - 3.2 * np.hypot(u[:, None], u[None, :]), 0, 1)
    grey = (255 - 20 * ink).astype(np.uint8)
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


def body_mesh(body, frame=0, time=0.0):
    """The surface of a body in its own frame at a frame and its time (s); None: it has no surface."""
    s = body.shape
    if body.kind == "sphere":
        return pv.Sphere(radius=s[3], center=s[:3], theta_resolution=96, phi_resolution=96)
    if body.kind == "box":
        return rounded_box(s[:3], s[3])
    if body.kind == "capsule":
        return capsule(s[:3], s[3:6], s[6])
    if body.kind == "torus":
        return pv.ParametricTorus(ringradius=s[0], crosssectionradius=s[1], u_res=160, v_res=64)
    if body.kind == "cylinder":
        return rounded_cylinder(*s[:3])
    if body.kind == "mesh":
        d = body.data
        return pv.PolyData(body.vertices(frame, time), triangles_to_faces(d["triangles"]))
    if body.kind == "sdf":
        grid = pv.ImageData(
            dimensions=tuple(int(d) for d in body.data["sdf_dims"]),
            spacing=(float(body.data["sdf_spacing"]),) * 3,
            origin=tuple(body.data["sdf_origin"]),
        )
        grid["d"] = np.ravel(body.data["sdf"])
        return grid.contour([0.0], scalars="d")
    return None


def creased(mesh):
    """The same with normals that jump where a body has edges."""
    return mesh.compute_normals(
        split_vertices=True, feature_angle=30.0, consistent_normals=False
    )


def rounded_box(half, radius):
    """Half extents are those of the whole box, its edges rounded by radius."""
    if radius <= 0:
        return pv.Box((-half[0], half[0], -half[1], half[1], -half[2], half[2]))
    ball = pv.Cube(x_length=2, y_length=2, z_length=2).triangulate().subdivide(4)
    unit = ball.points / np.linalg.norm(ball.points, axis=1)[:, None]
    core = np.maximum(half - radius, 0.0)
    ball.points = np.sign(np.round(unit, 9)) * core + radius * unit
    return ball


def rounded_cylinder(radius, half, rim):
    """Along z; radius and half length are those of the whole cylinder, its rims rounded by rim."""
    bend = np.linspace(0, np.pi / 2, 9) if rim > 0 else np.array([0.0])
    r, z = radius - rim + rim * np.cos(bend), half - rim + rim * np.sin(bend)
    profile = np.array([(0, -half), *zip(r[::-1], -z[::-1], strict=True), *zip(r, z, strict=True), (0, half)])
    turns = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    rings = [np.column_stack([a * np.cos(turns), a * np.sin(turns), 0 * turns + b])
             for a, b in profile]
    i = np.arange(len(profile) - 1)[:, None] * 96 + np.arange(96)
    j = np.arange(len(profile) - 1)[:, None] * 96 + (np.arange(96) + 1) % 96
    tris = np.concatenate([np.stack([i, j, j + 96], -1), np.stack([i, j + 96, i + 96], -1)])
    return pv.PolyData(np.vstack(rings), triangles_to_faces(tris.reshape(-1, 3)))


def capsule(a, b, radius):
    axis = b - a
    length = np.linalg.norm(axis)
    if length == 0:
        return pv.Sphere(radius=radius, center=a)
    return pv.Capsule(
        center=0.5 * (a + b), direction=axis / length, radius=radius, cylinder_length=length,
        resolution=64,
    )


vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_ERROR)


class View:
    """Draws frames of one log with one camera that sees all that are asked for.

    lamps: samples of the key light, which make its shadows soft; 0: no shadows, no ambient
    occlusion.
    """

    def __init__(self, log, frames, size, angles, zoom=1.0, wireframe=False, lamps=8):
        self.log = log
        self.up = np.eye(3)[log.up_axis]
        self.bodies = log.obstacles()
        tris = log.scene("triangles")
        self.yarns = Yarns(log)
        if (tris is None or len(tris) == 0) and self.yarns.count == 0:
            raise LogError(f"{log.path}: neither triangles nor yarns to draw")
        self.tris = np.zeros((0, 3), dtype=np.int32) if tris is None else tris
        self.box = self._bounds(frames)
        self.middle = self.box.mean(axis=0)
        self.radius = 0.5 * np.linalg.norm(self.box[1] - self.box[0])
        self.angles = angles
        self.size = size  # width, height; drawn square, because VTK's shadow maps want that
        self.plot = pv.Plotter(off_screen=True, window_size=[OVER * max(size)] * 2, lighting="none")
        self.plot.set_background(SKY)
        self._add_bodies()
        self._add_cloths(wireframe)
        self._add_yarns()
        self._light(max(lamps, 1))
        self._camera(zoom)
        if lamps > 0:
            self._passes()
        self.shown = False
        self.dye = None  # of yarns: values, limits, colours

    # ---- content ----
    def _bounds(self, frames):
        """Corners of the box around the frames and all bodies but planes, m."""
        some = [frames[i] for i in np.unique(np.linspace(0, len(frames) - 1, 40).astype(int))]
        points = [self.log.frame(i) for i in some]
        for body in self.bodies:
            for i in (some[0], some[-1]):
                mesh = body_mesh(body, i, float(self.log.times[i]))
                if mesh is None or mesh.n_points == 0:
                    break
                m = body.matrix(i)
                points.append(np.asarray(mesh.points) @ m[:3, :3].T + m[:3, 3])
        points = np.vstack(points)
        if not np.isfinite(points).all():
            points = points[np.isfinite(points).all(axis=1)]
        return np.array([points.min(axis=0), points.max(axis=0)])

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
        """A disc around the scene whose far parts take the colour of the background."""
        m = body.matrix(0)
        length = np.linalg.norm(body.shape[:3])
        normal, offset = body.shape[:3] / length, body.shape[3] / length
        middle = m[:3, :3].T @ (self.middle - m[:3, 3])
        middle += (offset - normal @ middle) * normal
        reach = FLOOR_REACH * self.radius
        plane = pv.Disc(center=middle, inner=0, outer=reach, normal=normal, c_res=96)
        along = np.linalg.svd(normal[None, :])[2][1:]
        plane.active_texture_coordinates = (plane.points - middle) @ along.T / (2 * reach) + 0.5
        look = {"ambient": 0.35, "diffuse": 0.75, "specular": 0.0}
        lit = look["ambient"] + look["diffuse"] * self._irradiance(m[:3, :3] @ normal)
        colour = np.clip(np.array(pv.Color(SKY).float_rgb) / lit, 0, 1)
        tile = floor_image(2 * reach / self._tile())
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
                clim=(low, high),
            )
            actor.mapper.scalar_visibility = True  # it was made with one colour

    def paint_yarns(self, values, low, high, colours="viridis"):
        """Yarns in the colours of values [n] of their vertices, low to high."""
        self.dye = np.clip(values, low, high), (low, high), colours

    # ---- light and camera ----
    def _direction(self, azimuth, elevation):
        a, e = np.radians([azimuth, elevation])
        side = np.eye(3)[[(self.log.up_axis + 1) % 3, (self.log.up_axis + 2) % 3]]
        return np.cos(e) * (np.cos(a) * side[0] + np.sin(a) * side[1]) + np.sin(e) * self.up

    def _camera(self, zoom):
        corners = np.array(np.meshgrid(*self.box.T)).reshape(3, -1).T
        away = self._direction(*self.angles)
        right = np.cross(self.up, away)
        right /= np.linalg.norm(right)
        above = np.cross(away, right)
        half = np.radians(28.0) / 2  # vertical field of view
        aspect = self.size[0] / self.size[1]
        # farthest distance at which some corner would touch the border
        q = corners - self.middle
        need = np.maximum(
            np.abs(q @ above) / np.tan(half), np.abs(q @ right) / (aspect * np.tan(half))
        ) + q @ away
        self.plot.camera.position = self.middle + away * (1.12 * need.max() / zoom)
        self.plot.camera.focal_point = self.middle
        self.plot.camera.up = self.up
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
            # far away and all around: such a light casts no shadow
            light.positional, light.cone_angle = True, 180
            light.position = self.middle + LIGHT_DISTANCE * self.radius * self._direction(
                self.angles[0] + turn, elevation
            )
            self.plot.add_light(light)

    def _passes(self):
        """Shadows, ambient occlusion, several samples per pixel."""
        shadows = self.plot.renderer._render_passes.enable_shadow_pass()
        shadows.GetShadowMapBakerPass().SetResolution(2048)
        shadows.GetShadowMapBakerPass().SetExponentialConstant(60)
        self.plot.enable_ssao(
            radius=0.15 * self.radius, bias=0.004 * self.radius, kernel_size=64, blur=True
        )

    def _draw_yarns(self, actor, x, yarns):
        if self.dye is None:
            actor.mapper.dataset = self.yarns.mesh(x, yarns)
            return
        values, limits, colours = self.dye
        mesh = self.yarns.mesh(x, yarns, values)
        actor.mapper.dataset = mesh
        actor.mapper.set_scalars(np.asarray(mesh["paint"]), "paint", cmap=colours, clim=limits)
        actor.mapper.scalar_visibility = True

    # ---- drawing ----
    def image(self, frame):
        """[height][width][3] bytes."""
        x = self.log.frame(frame)
        if not np.isfinite(x).all():
            raise LogError(f"frame {frame} holds NaN or infinity; `loom verify` names the vertices")
        for actor, mesh, used in self.cloths:
            mesh.points = x[used]
            actor.mapper.dataset = self._shaded(mesh)
        for actor, yarns, _ in self.ropes:
            self._draw_yarns(actor, x, yarns)
        for actor, body in self.actors:
            actor.user_matrix = body.matrix(frame)
            if "frames" in body.data or "joints" in body.data:
                time = float(self.log.file["frames/time"][frame])
                actor.mapper.dataset = creased(body_mesh(body, frame, time))
        side = max(self.size)
        (w, h), left, top = self.size, (side - self.size[0]) // 2, (side - self.size[1]) // 2
        if self.shown:
            self.plot.render()
        big = self.plot.screenshot(return_img=True).astype(np.uint16)  # renders the first time
        self.shown = True
        big = big[OVER * top : OVER * (top + h), OVER * left : OVER * (left + w)]
        return (big.reshape(h, OVER, w, OVER, 3).sum(axis=(1, 3)) // OVER**2).astype(np.uint8)
