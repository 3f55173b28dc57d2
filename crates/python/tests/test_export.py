"""Exports, opened by the programs they are for or by libraries: all values are those of the recording.

Large packages (`vtk`, `bpy`) are not in requirements.txt: their tests are skipped if they are not installed.
"""

import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import set_arguments

import frazil

EXAMPLES = Path(__file__).parents[1] / "examples"
# Up along y with a constant size of particles, and up along z with a radius for each.
SCENES = {
    "dam_break": ({"fluid.particle_spacing_m": 0.0182}, 20, 5, 0.0182),
    "column_collapse": ({"dem.radius_m": 0.02}, 40, 10, None),
}


class Exported:
    """A recording, and its exports in all formats that are tested here."""

    def __init__(self, program, scene, folder):
        overrides, steps, every, self.width_m = SCENES[scene]
        options = ["--steps", steps, "--record", every, "--render", "never", "--quiet"]
        program("run", scene, *set_arguments(overrides), *options, "--out", folder / "run")
        self.path = folder / "run" / "recording.frazil-rec"
        self.folder = folder / "export"
        formats = ["--format", "vtu,ply,bgeo", "--mesh", "ply"]
        program("export", self.path, *formats, "--out", self.folder)
        self.recording = frazil.Recording(self.path)
        self.frames = [frame.sorted_by_id() for frame in self.recording]
        assert len(self.frames) == 5

    def file(self, stem, index, extension):
        return self.folder / f"{stem}_{index:06}.{extension}"


@pytest.fixture(scope="module", params=list(SCENES))
def exported(request, program, tmp_path_factory):
    return Exported(program, request.param, tmp_path_factory.mktemp(request.param))


def assert_same_bits(found, expected):
    """Compares arrays bit for bit."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype.newbyteorder("=") == expected.dtype and found.shape == expected.shape
    assert np.ascontiguousarray(found, expected.dtype).tobytes() == np.ascontiguousarray(expected).tobytes()


def columns(records, names):
    return np.stack([records[name] for name in names], axis=1)


def ply_names(frame):
    """Returns the names of the properties of each column."""
    axes = {1: [""], 2: ["_x", "_y", "_z"]}
    names = {name: [name + axis for axis in axes[values.ndim]] for name, values in frame.items()}
    return names | {"position": ["x", "y", "z"]}


def pvd(exported):
    """Returns times and paths of the collection that ParaView opens."""
    index = ElementTree.parse(exported.folder / "particles.pvd").getroot()
    assert index.get("type") == "Collection"
    return [
        (float(entry.get("timestep")), exported.folder / entry.get("file")) for entry in index.iter("DataSet")
    ]


def test_names_of_files_sort_by_frame(exported):
    for stem, extension in [("particles", "bgeo"), ("particles", "ply"), ("surface", "ply")]:
        names = sorted(path.name for path in exported.folder.glob(f"{stem}_*.{extension}"))
        assert names == [exported.file(stem, i, extension).name for i in range(len(exported.frames))]


def test_paraview_series_has_the_times(exported):
    times, paths = zip(*pvd(exported), strict=True)
    assert list(times) == list(exported.recording.times_s)
    assert list(paths) == [exported.file("particles", i, "vtu") for i in range(len(exported.frames))]


def test_vtu_opens_in_meshio(exported):
    meshio = pytest.importorskip("meshio")
    for (_, path), frame in zip(pvd(exported), exported.frames, strict=True):
        mesh = meshio.read(path)
        assert [(block.type, len(block)) for block in mesh.cells] == [("vertex", frame.n_particles)]
        assert_same_bits(mesh.points, frame["position"])
        assert list(mesh.point_data) == [name for name in frame if name != "position"]
        for name, values in mesh.point_data.items():
            assert_same_bits(values, frame[name])


def test_vtu_opens_in_vtk(exported):
    vtk = pytest.importorskip("vtk", reason="vtk is not installed: the reader of ParaView is not tried")
    from vtk.util.numpy_support import vtk_to_numpy

    for (time_s, path), frame in zip(pvd(exported), exported.frames, strict=True):
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(path))
        reader.Update()
        grid = reader.GetOutput()
        assert grid.GetNumberOfCells() == frame.n_particles
        assert_same_bits(vtk_to_numpy(grid.GetPoints().GetData()), frame["position"])
        for name in set(frame) - {"position"}:
            array = grid.GetPointData().GetArray(name)
            assert_same_bits(vtk_to_numpy(array), frame[name])
            unit = array.GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL())
            assert (unit or "") == frame.units[name]
        assert grid.GetFieldData().GetArray("TimeValue").GetValue(0) == time_s == frame.time_s


def test_ply_opens_in_plyfile(exported):
    plyfile = pytest.importorskip("plyfile")
    for index, frame in enumerate(exported.frames):
        ply = plyfile.PlyData.read(exported.file("particles", index, "ply"))
        assert [element.name for element in ply] == ["vertex"]
        vertex = ply["vertex"].data
        names = ply_names(frame)
        assert sorted(vertex.dtype.names) == sorted(name for column in names.values() for name in column)
        for column, properties in names.items():
            found = columns(vertex, properties)
            assert_same_bits(found if len(properties) == 3 else found[:, 0], frame[column])
        assert f"step {frame.step}, time {frame.time_s!r} s" in ply.comments[0]


def test_surface_ply_opens_in_plyfile_and_meshio(exported):
    plyfile, meshio = pytest.importorskip("plyfile"), pytest.importorskip("meshio")
    for index in range(len(exported.frames)):
        path = exported.file("surface", index, "ply")
        ply = plyfile.PlyData.read(path)
        position = columns(ply["vertex"].data, ["x", "y", "z"])
        normal = columns(ply["vertex"].data, ["nx", "ny", "nz"])
        triangles = np.vstack(ply["face"]["vertex_indices"])
        assert_counter_clockwise(position, normal, triangles)
        mesh = meshio.read(path)
        assert_same_bits(mesh.points, position)
        np.testing.assert_array_equal(mesh.cells_dict["triangle"], triangles)


def assert_counter_clockwise(position, normal, triangles):
    """Checks that triangles are counter-clockwise from outside: they enclose a positive volume."""
    corners = position[triangles].astype(np.float64)
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert volume > 0.0
    # Normals point outwards, too.
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.einsum("ij,ij->", facing, normal[triangles].mean(axis=1)) > 0.0


class Bgeo:
    """Houdini's classic binary geometry, version 5. The reader follows the layout that partio reads, and
    shares nothing with the exporter; partio itself has no package that pip installs."""

    HOUDINI_TYPES = {0: ">f4", 1: ">i4", 5: ">f4"}

    def __init__(self, path):
        self.bytes, self.at = path.read_bytes(), 0
        magic, letter, version, self.n_points, n_primitives, *groups_and_attributes = self.take(">4sc9i")
        assert (magic, letter, version) == (b"Bgeo", b"V", 5)
        *groups, of_points, of_vertices, of_primitives, of_detail = groups_and_attributes
        assert [n_primitives, *groups, of_vertices, of_primitives] == [0] * 5
        # A point is its position as four floats, and its attributes.
        kinds = [("P", ">f4", 4), *self.attributes(of_points)]
        self.points = self.records(kinds, self.n_points)
        self.detail = self.records(self.attributes(of_detail), 1)[0]
        assert self.bytes[self.at :] == b"\x00\xff"

    def take(self, layout):
        values = struct.unpack_from(layout, self.bytes, self.at)
        self.at += struct.calcsize(layout)
        return values

    def attributes(self, n):
        """Returns name, type and number of words of each attribute."""
        kinds = []
        for _ in range(n):
            (length,) = self.take(">H")
            (name,) = self.take(f">{length}s")
            size, kind = self.take(">Hi")
            self.take(f">{size}i")
            kinds.append((name.decode(), self.HOUDINI_TYPES[kind], size))
        return kinds

    def records(self, kinds, n):
        dtype = np.dtype([(name, kind, (size,) if size > 1 else ()) for name, kind, size in kinds])
        records = np.frombuffer(self.bytes, dtype, n, self.at)
        self.at += records.nbytes
        return records


def test_bgeo_has_points_with_the_attributes_of_houdini(exported):
    houdini = {"position": "P", "velocity": "v", "radius": "pscale"}
    for index, frame in enumerate(exported.frames):
        bgeo = Bgeo(exported.file("particles", index, "bgeo"))
        assert bgeo.n_points == frame.n_particles
        assert set(bgeo.points.dtype.names) == {houdini.get(name, name) for name in frame}
        assert_same_bits(bgeo.points["P"][:, :3], frame["position"])
        assert (bgeo.points["P"][:, 3] == 1.0).all()
        for name in set(frame) - {"position"}:
            # Integers of the format are signed.
            values = frame[name].view(np.int32) if frame[name].dtype == np.uint32 else frame[name]
            assert_same_bits(bgeo.points[houdini.get(name, name)], values)
        assert bgeo.detail["time"] == np.float32(frame.time_s)


def example(script, *arguments, status=0):
    """Runs a script of the examples; returns what it prints to stderr."""
    command = [sys.executable, EXAMPLES / script, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == status, run.stderr
    return run.stderr


@pytest.mark.parametrize("extension", ["usdc", "usda"])
def test_usd_has_particles_and_surfaces_over_time(exported, tmp_path, extension):
    pytest.importorskip("pxr", reason="usd-core is not installed: to_usd.py is not tried")
    from pxr import Usd, UsdGeom

    out = tmp_path / f"run.{extension}"
    example("to_usd.py", exported.path, out, "--mesh", exported.folder, "--fps", 48)
    stage = Usd.Stage.Open(str(out))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0 and stage.GetTimeCodesPerSecond() == 48.0
    assert UsdGeom.GetStageUpAxis(stage) == exported.recording.scene["up_axis"].upper()
    codes = [time_s * 48.0 for time_s in exported.recording.times_s]
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (codes[0], codes[-1])
    points = UsdGeom.Points(stage.GetDefaultPrim().GetChild("particles"))
    surface = UsdGeom.Mesh(stage.GetDefaultPrim().GetChild("surface"))
    assert points.GetPointsAttr().GetTimeSamples() == surface.GetPointsAttr().GetTimeSamples() == codes
    primvars = UsdGeom.PrimvarsAPI(points)
    for index, (code, frame) in enumerate(zip(codes, exported.frames, strict=True)):
        assert_same_bits(points.GetPointsAttr().Get(code), frame["position"])
        assert_same_bits(points.GetVelocitiesAttr().Get(code), frame["velocity"])
        np.testing.assert_array_equal(points.GetIdsAttr().Get(code), frame["id"])
        width = 2.0 * frame["radius"] if "radius" in frame else np.float32([exported.width_m])
        assert_same_bits(points.GetWidthsAttr().Get(code), width)
        for name in set(frame) - {"position", "velocity", "id", "radius"}:
            assert_same_bits(primvars.GetPrimvar(name).Get(code), frame[name])
        low, high = np.asarray(points.GetExtentAttr().Get(code))
        assert (low == frame["position"].min(axis=0)).all() and (high == frame["position"].max(axis=0)).all()
        check_usd_surface(surface, code, exported.file("surface", index, "ply"))


def check_usd_surface(surface, code, path):
    plyfile = pytest.importorskip("plyfile")
    ply = plyfile.PlyData.read(path)
    vertex = ply["vertex"].data
    assert_same_bits(surface.GetPointsAttr().Get(code), columns(vertex, ["x", "y", "z"]))
    assert_same_bits(surface.GetNormalsAttr().Get(code), columns(vertex, ["nx", "ny", "nz"]))
    velocity = columns(vertex, ["velocity_x", "velocity_y", "velocity_z"])
    assert_same_bits(surface.GetVelocitiesAttr().Get(code), velocity)
    triangles = np.concatenate(ply["face"]["vertex_indices"])
    np.testing.assert_array_equal(surface.GetFaceVertexIndicesAttr().Get(code), triangles)
    assert set(surface.GetFaceVertexCountsAttr().Get(code)) == {3}
    assert surface.ValidateTopology(
        surface.GetFaceVertexIndicesAttr().Get(code), surface.GetFaceVertexCountsAttr().Get(code), len(vertex)
    )[0]


def test_to_usd_names_what_is_wrong(exported, tmp_path):
    pytest.importorskip("pxr", reason="usd-core is not installed: to_usd.py is not tried")
    out = tmp_path / "run.usdc"
    for arguments, expected in [
        ([tmp_path / "missing", out], "missing"),
        ([exported.path, tmp_path / "run.obj"], "run.obj: expected a name that ends in .usdc"),
        ([exported.path, out, "--mesh", tmp_path], "found no surface_*.ply"),
    ]:
        said = example("to_usd.py", *arguments, status=1)
        assert said.startswith("to_usd: ") and expected in said, said
    assert "--fps: found 0" in example("to_usd.py", exported.path, out, "--fps", "0", status=2)
    assert not out.exists()


# Runs a script in Blender, and saves what it puts into `arrays`. Ends without Blender's own exit, which may
# wait for a window system.
DRIVER = """
import os, runpy, sys
import bpy, numpy as np

def values(attribute):
    size, field, dtype = {
        "FLOAT_VECTOR": (3, "vector", "f4"), "FLOAT": (1, "value", "f4"), "INT": (1, "value", "i4")
    }.get(attribute.data_type, (0, "", ""))
    if size == 0 or attribute.domain != "POINT":
        return None
    found = np.empty(len(attribute.data) * size, dtype)
    attribute.data.foreach_get(field, found)
    return found

def put(prefix, attributes):
    for attribute in attributes:
        found = values(attribute)
        if found is not None:
            arrays[f"{prefix}/{attribute.name}"] = found

def evaluated(thing):
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get())

*arguments, out = sys.argv[sys.argv.index("--") + 1 :]
arrays = {"version": np.array(bpy.app.version_string)}
try:
    SCRIPT
    np.savez(out, **arrays)
except BaseException as error:
    print(repr(error), file=sys.stderr, flush=True)
    os._exit(1)
os._exit(0)
"""

IMPORT_PLY = f"""
sys.argv = ["blender_import.py", "--", *arguments]
runpy.run_path({str(EXAMPLES / "blender_import.py")!r}, run_name="__main__")
scene = bpy.context.scene
arrays["frames"] = np.array([scene.frame_start, scene.frame_end])
for frame in range(scene.frame_start, scene.frame_end + 1):
    scene.frame_set(frame)
    things = [thing for thing in bpy.data.objects if thing.type == "MESH"]
    shown = [thing for thing in things if not thing.hide_render and not thing.hide_viewport]
    arrays[f"{{frame}}/names"] = np.array(sorted(thing.name for thing in shown))
    for thing in shown:
        kind, mesh = thing.name.split("_")[0], thing.data
        arrays[f"{{frame}}/{{kind}}/up"] = np.array(thing.matrix_world)
        put(f"{{frame}}/{{kind}}", mesh.attributes)
        triangles = np.empty(len(mesh.loops), "i4")
        mesh.loops.foreach_get("vertex_index", triangles)
        arrays[f"{{frame}}/{{kind}}/triangles"] = triangles
        if kind == "particles":
            geometry = evaluated(thing).evaluated_geometry()
            put(f"{{frame}}/cloud", geometry.pointcloud.attributes)
"""

# USD as it is, and its surface as Alembic and back.
IMPORT_USD = """
usd, alembic = arguments

def put_all(kind):
    for frame in range(5):
        bpy.context.scene.frame_set(frame)
        for thing in bpy.data.objects:
            if thing.type in ("MESH", "POINTCLOUD"):
                put(f"{kind}/{frame}/{thing.name}", evaluated(thing).data.attributes)
                arrays[f"{kind}/{frame}/{thing.name}/up"] = np.array(evaluated(thing).matrix_world)

bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.wm.usd_import(filepath=usd)
put_all("usd")
bpy.ops.wm.alembic_export(filepath=alembic, start=0, end=4)
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.wm.alembic_import(filepath=alembic)
put_all("alembic")
"""


def in_blender(tmp_path, script, *arguments, status=0):
    """Runs a script by Blender or its Python module; returns its arrays and what is printed."""
    driver, out = tmp_path / "driver.py", tmp_path / "blender.npz"
    driver.write_text(DRIVER.replace("    SCRIPT", textwrap.indent(script, "    ")))
    blender = shutil.which("blender")
    if blender:
        command = [blender, "--background", "--factory-startup", "--python", driver]
    else:
        if not importlib.util.find_spec("bpy"):
            pytest.skip("neither Blender nor bpy is installed: imports into Blender are not tried")
        command = [sys.executable, driver]
    command = [*map(str, command), "--", *map(str, arguments), str(out)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == status, run.stdout + run.stderr
    return (dict(np.load(out)) if status == 0 else None), run.stdout + run.stderr


def test_blender_has_particles_and_surfaces_by_frame(exported, tmp_path):
    plyfile = pytest.importorskip("plyfile")
    up = exported.recording.scene["up_axis"]
    options = ["--up", up, "--radius", "0.5", "--save", tmp_path / "a.blend"]
    scene, _ = in_blender(tmp_path, IMPORT_PLY, exported.folder, *options)
    print("Blender", scene["version"])
    assert (tmp_path / "a.blend").stat().st_size > 0
    assert list(scene["frames"]) == [0, len(exported.frames) - 1]
    for index, frame in enumerate(exported.frames):
        assert list(scene[f"{index}/names"]) == [f"particles_{index:06}", f"surface_{index:06}"]
        for name, values in frame.items():
            values = values.view(np.int32) if values.dtype == np.uint32 else values
            assert_same_bits(scene[f"{index}/particles/{name}"], values.ravel())
        # Geometry Nodes make points with a radius of it.
        assert_same_bits(scene[f"{index}/cloud/position"], frame["position"].ravel())
        radius = frame["radius"] if "radius" in frame else np.full(frame.n_particles, 0.5, np.float32)
        assert_same_bits(scene[f"{index}/cloud/radius"], radius)
        # The up axis of the scene is Blender's z.
        direction = np.eye(3)["xyz".index(up)]
        np.testing.assert_allclose(scene[f"{index}/particles/up"][:3, :3] @ direction, [0, 0, 1], atol=1e-6)
        ply = plyfile.PlyData.read(exported.file("surface", index, "ply"))
        vertex = ply["vertex"].data
        assert_same_bits(scene[f"{index}/surface/position"], columns(vertex, ["x", "y", "z"]).ravel())
        velocity = columns(vertex, ["velocity_x", "velocity_y", "velocity_z"])
        assert_same_bits(scene[f"{index}/surface/velocity"], velocity.ravel())
        triangles = np.concatenate(ply["face"]["vertex_indices"]).astype(np.int32)
        assert_same_bits(scene[f"{index}/surface/triangles"], triangles)


def test_blender_opens_usd_and_converts_surfaces_to_alembic(exported, tmp_path):
    pytest.importorskip("pxr", reason="usd-core is not installed: USD in Blender is not tried")
    plyfile = pytest.importorskip("plyfile")
    out = tmp_path / "run.usdc"
    # A time code for each frame.
    fps = 1.0 / exported.recording.times_s[1]
    example("to_usd.py", exported.path, out, "--mesh", exported.folder, "--fps", fps)
    scene, _ = in_blender(tmp_path, IMPORT_USD, out, tmp_path / "run.abc")
    direction = np.eye(3)["xyz".index(exported.recording.scene["up_axis"])]
    for index, frame in enumerate(exported.frames):
        assert_same_bits(scene[f"usd/{index}/particles/position"], frame["position"].ravel())
        assert_same_bits(scene[f"usd/{index}/particles/velocity"], frame["velocity"].ravel())
        width = 2.0 * frame["radius"] if "radius" in frame else exported.width_m
        np.testing.assert_allclose(2.0 * scene[f"usd/{index}/particles/radius"], width, rtol=1e-6)
        up = scene[f"usd/{index}/particles/up"][:3, :3] @ direction
        np.testing.assert_allclose(up, [0, 0, 1], atol=1e-6)
        vertex = plyfile.PlyData.read(exported.file("surface", index, "ply"))["vertex"].data
        position = columns(vertex, ["x", "y", "z"])
        assert_same_bits(scene[f"usd/{index}/surface/position"], position.ravel())
        # Alembic of Blender is y up; its objects bring the rotation back.
        world = scene[f"alembic/{index}/surface/up"]
        found = scene[f"alembic/{index}/surface/position"].reshape(-1, 3) @ world[:3, :3].T
        expected = position @ scene[f"usd/{index}/surface/up"][:3, :3].T
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_blender_import_names_what_is_wrong(exported, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert f"{empty}: found no particles_*.ply" in in_blender(tmp_path, IMPORT_PLY, empty, status=1)[1]
    whole = exported.file("particles", 0, "ply")
    (empty / whole.name).write_bytes(whole.read_bytes()[:-1])
    said = in_blender(tmp_path, IMPORT_PLY, empty, status=1)[1]
    assert re.search(r"particles_000000.ply: found \d+ bytes after the header, expected \d+", said), said


def test_the_examples_say_how_they_are_called():
    pytest.importorskip("pxr", reason="usd-core is not installed: to_usd.py is not tried")
    assert example("to_usd.py", "--help") == ""
    for script in sorted(os.listdir(EXAMPLES)):
        if script.endswith(".py"):
            assert "frazil export" in (EXAMPLES / script).read_text()
