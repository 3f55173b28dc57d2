"""Converts a recording of frazil to USD: particles as points, exported surfaces as a mesh, over time.

    pip install usd-core                          # and the wheel of frazil; for --mesh also plyfile
    python to_usd.py out/dam_break/recording.frazil-rec dam_break.usdc
    frazil export out/dam_break/recording.frazil-rec --mesh ply --out surface
    python to_usd.py out/dam_break/recording.frazil-rec dam_break.usdc --mesh surface
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, Vt

import frazil

# Columns that have an attribute of their own; the others are primvars of the same name, whose type depends on
# kind and number of components.
BUILT_IN = {"position", "velocity", "id", "radius"}
PRIMVAR_TYPES = {
    ("f",): (Sdf.ValueTypeNames.FloatArray, Vt.FloatArray),
    ("f", 3): (Sdf.ValueTypeNames.Float3Array, Vt.Vec3fArray),
    ("u",): (Sdf.ValueTypeNames.UIntArray, Vt.UIntArray),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recording", type=Path)
    parser.add_argument("out", type=Path, help=".usdc (binary), .usda (text) or .usd")
    parser.add_argument("--mesh", type=Path, metavar="FOLDER", help="of frazil export --mesh ply")
    parser.add_argument("--fps", type=float, default=24.0, help="time codes per second [24]")
    parser.add_argument("--width", type=float, metavar="M", help="diameter of particles without a radius")
    arguments = parser.parse_args()
    if not arguments.fps > 0.0:
        parser.error(f"--fps: found {arguments.fps:g}, expected a number above 0")
    try:
        convert(arguments)
    except (frazil.Error, OSError, ValueError) as error:
        sys.exit(f"to_usd: {error}")


def convert(arguments):
    recording = frazil.Recording(arguments.recording)
    if len(recording) == 0:
        raise ValueError(f"{arguments.recording}: found no frame, expected at least one")
    if arguments.out.suffix not in (".usd", ".usda", ".usdc"):
        raise ValueError(f"{arguments.out}: expected a name that ends in .usdc, .usda or .usd")
    surfaces = find_surfaces(arguments.mesh, len(recording)) if arguments.mesh else {}

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(arguments.fps)
    stage.SetFramesPerSecond(arguments.fps)
    codes = recording.times_s * arguments.fps
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    root = UsdGeom.Xform.Define(stage, "/frazil")
    stage.SetDefaultPrim(root.GetPrim())
    set_up_axis(stage, root, recording.scene["up_axis"])

    points = UsdGeom.Points.Define(stage, "/frazil/particles")
    for code, frame in zip(codes, recording):
        write_points(points, code, frame.sorted_by_id(), arguments.width, recording.scene)
    if surfaces:
        mesh = UsdGeom.Mesh.Define(stage, "/frazil/surface")
        # Polygons as they are, neither subdivided nor culled.
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateOrientationAttr(UsdGeom.Tokens.rightHanded)
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        for number, path in surfaces.items():
            write_mesh(mesh, codes[number], path)
    if not stage.GetRootLayer().Export(str(arguments.out)):
        raise OSError(f"{arguments.out}: cannot be written")
    print(f"wrote {len(recording)} frames and {len(surfaces)} surfaces to {arguments.out}")


def set_up_axis(stage, root, up_axis):
    """Declares the up axis. USD has y and z only: what is upright along x is rotated."""
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if up_axis == "z" else UsdGeom.Tokens.y)
    if up_axis == "x":
        root.AddRotateZOp().Set(90.0)


def write_points(points, code, frame, width, scene):
    """Sets the sample of one frame. Velocities are per second, as USD has them."""
    position = frame["position"]
    points.CreatePointsAttr().Set(vec3(position), code)
    points.CreateIdsAttr().Set(Vt.Int64Array.FromNumpy(frame["id"].astype(np.int64)), code)
    points.CreateExtentAttr().Set(extent(position), code)
    if "velocity" in frame:
        points.CreateVelocitiesAttr().Set(vec3(frame["velocity"]), code)
    if "radius" in frame:
        points.CreateWidthsAttr().Set(floats(2.0 * frame["radius"]), code)
        points.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
    else:
        points.CreateWidthsAttr().Set(floats(np.float32([width or spacing_m(scene)])))
        points.SetWidthsInterpolation(UsdGeom.Tokens.constant)
    primvars = UsdGeom.PrimvarsAPI(points)
    for name, values in frame.items():
        kind = PRIMVAR_TYPES.get((values.dtype.kind, *values.shape[1:]))
        if name in BUILT_IN or kind is None:
            continue
        primvar = primvars.CreatePrimvar(name, kind[0], UsdGeom.Tokens.vertex)
        primvar.Set(kind[1].FromNumpy(np.ascontiguousarray(values)), code)


def write_mesh(mesh, code, path):
    """Sets the sample of one surface. Each has vertices and triangles of its own."""
    from plyfile import PlyData

    ply = PlyData.read(path)
    vertex = ply["vertex"].data
    triangles = np.vstack([*ply["face"]["vertex_indices"], np.empty((0, 3), np.uint32)]).astype(np.int32)
    position = columns(vertex, ["x", "y", "z"])
    mesh.CreatePointsAttr().Set(vec3(position), code)
    mesh.CreateNormalsAttr().Set(vec3(columns(vertex, ["nx", "ny", "nz"])), code)
    mesh.CreateFaceVertexCountsAttr().Set(Vt.IntArray.FromNumpy(np.full(len(triangles), 3, np.int32)), code)
    mesh.CreateFaceVertexIndicesAttr().Set(Vt.IntArray.FromNumpy(triangles.ravel()), code)
    mesh.CreateExtentAttr().Set(extent(position), code)
    if "velocity_x" in vertex.dtype.names:
        velocity = columns(vertex, ["velocity_x", "velocity_y", "velocity_z"])
        mesh.CreateVelocitiesAttr().Set(vec3(velocity), code)


def find_surfaces(folder, n_frames):
    """Returns the paths of surfaces by the number of their frame."""
    paths = {int(path.stem.removeprefix("surface_")): path for path in sorted(folder.glob("surface_*.ply"))}
    if not paths:
        raise ValueError(f"{folder}: found no surface_*.ply, expected those of frazil export --mesh ply")
    if max(paths) >= n_frames:
        raise ValueError(f"{paths[max(paths)]}: expected a frame of the recording, which has {n_frames}")
    return paths


def spacing_m(scene):
    try:
        return scene["fluid.particle_spacing_m"]
    except frazil.NameNotFoundError:
        raise ValueError(
            "found neither a column radius nor fluid.particle_spacing_m, expected --width"
        ) from None


def columns(vertex, names):
    return np.stack([vertex[name] for name in names], axis=1)


def vec3(values):
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values))


def floats(values):
    return Vt.FloatArray.FromNumpy(values)


def extent(position):
    if len(position) == 0:
        return Vt.Vec3fArray(2, Gf.Vec3f(0.0))
    return vec3(np.stack([position.min(axis=0), position.max(axis=0)]))


if __name__ == "__main__":
    main()
