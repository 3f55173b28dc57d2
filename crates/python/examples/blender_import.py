"""Loads the PLY files of `frazil export` into Blender: an object for each file, shown on its frame.

    frazil export out/dam_break/recording.frazil-rec --format ply --mesh ply --out ply
    blender --background --python blender_import.py -- ply --radius 0.01 --save dam_break.blend

Particles become points with a radius by a Geometry Nodes modifier, which Cycles draws as spheres; surfaces
become meshes. All properties of the files are attributes, `velocity` among them.
"""

import argparse
import math
import re
import sys
from pathlib import Path

import bpy
import numpy as np

TYPES = {"float": "<f4", "uint": "<u4", "int": "<i4", "uchar": "u1"}
# Rotations that make the up axis of a scene that of Blender, z.
UPRIGHT = {"x": (0.0, -math.pi / 2, 0.0), "y": (math.pi / 2, 0.0, 0.0), "z": (0.0, 0.0, 0.0)}
NAME = re.compile(r"(particles|surface|slabs|pieces|bodies)_(\d+)\.ply")


def main():
    parser = argparse.ArgumentParser(
        prog="blender_import.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--up", choices=UPRIGHT, default="y", help="up_axis of the scene [y]")
    parser.add_argument("--radius", type=float, default=0.01, metavar="M", help="of particles without [0.01]")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write a .blend file")
    arguments = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
    files = {}
    for path in sorted(arguments.folder.glob("*.ply")):
        if name := NAME.fullmatch(path.name):
            files.setdefault(name[1], {})[int(name[2])] = path
    if not files:
        sys.exit(f"blender_import: {arguments.folder}: found no particles_*.ply or surface_*.ply")
    if not bpy.data.filepath and "Cube" in bpy.data.objects:
        # Of Blender's default scene.
        bpy.data.objects.remove(bpy.data.objects["Cube"])
    try:
        for kind, paths in files.items():
            # A frame is shown until the next exported one.
            ends = [*list(paths)[1:], max(paths) + 1]
            for (number, path), end in zip(paths.items(), ends):
                show(load(path, kind, arguments), number, end)
    except ValueError as error:
        sys.exit(f"blender_import: {error}")
    scene = bpy.context.scene
    numbers = [number for paths in files.values() for number in paths]
    scene.frame_start, scene.frame_end = min(numbers), max(numbers)
    scene.frame_set(scene.frame_start)
    print(f"loaded {len(numbers)} files, frames {scene.frame_start} to {scene.frame_end}")
    if arguments.save:
        bpy.ops.wm.save_as_mainfile(filepath=str(arguments.save.resolve()))


def load(path, kind, arguments):
    """Adds the object of one file."""
    vertex, triangles = read_ply(path)
    mesh = bpy.data.meshes.new(path.stem)
    fill(mesh, vertex, triangles)
    thing = bpy.data.objects.new(path.stem, mesh)
    thing.rotation_euler = UPRIGHT[arguments.up]
    collection(kind).objects.link(thing)
    if triangles is None:
        modifier = thing.modifiers.new("points", "NODES")
        modifier.node_group = points_group("radius" in vertex.dtype.names, arguments.radius)
    return thing


def read_ply(path):
    """Returns the vertices as a structured array, and the triangles if there are any."""
    data = path.read_bytes()
    header, found, body = data.partition(b"end_header\n")
    lines = header.decode().splitlines()
    if not found or lines[:2] != ["ply", "format binary_little_endian 1.0"]:
        raise ValueError(f"{path}: expected a binary little-endian PLY file of frazil export")
    elements = {}
    for words in (line.split() for line in lines[2:]):
        if words[0] == "element":
            properties = []
            elements[words[1]] = int(words[2]), properties
        elif words[:2] == ["property", "list"]:
            # Faces of frazil are triangles.
            properties += [("n", TYPES[words[2]]), (words[4], TYPES[words[3]], 3)]
        elif words[0] == "property":
            properties.append((words[2], TYPES[words[1]]))
    n, properties = elements["vertex"]
    n_faces, face_properties = elements.get("face", (0, []))
    vertex_type, face_type = np.dtype(properties), np.dtype(face_properties)
    expected = n * vertex_type.itemsize + n_faces * face_type.itemsize
    if len(body) != expected:
        raise ValueError(f"{path}: found {len(body)} bytes after the header, expected {expected}")
    vertex = np.frombuffer(body, vertex_type, n)
    if "face" not in elements:
        return vertex, None
    return vertex, np.frombuffer(body, face_type, n_faces, n * vertex_type.itemsize)["vertex_indices"]


def fill(mesh, vertex, triangles):
    """Sets vertices, triangles, normals, and the other properties as attributes."""
    mesh.vertices.add(len(vertex))
    mesh.vertices.foreach_set("co", vectors(vertex, ["x", "y", "z"]).ravel())
    if triangles is not None and len(triangles):
        mesh.loops.add(triangles.size)
        mesh.loops.foreach_set("vertex_index", triangles.astype(np.int32).ravel())
        mesh.polygons.add(len(triangles))
        mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
        mesh.update(calc_edges=True)
        mesh.normals_split_custom_set_from_vertices(vectors(vertex, ["nx", "ny", "nz"]))
    names = [name for name in vertex.dtype.names if name not in ("x", "y", "z", "nx", "ny", "nz")]
    for name in names:
        stem = name[:-2]
        axes = [f"{stem}_{axis}" for axis in "xyz"]
        # Not the four numbers of a quaternion.
        if set(axes) <= set(names) and f"{stem}_w" not in names:
            if name == axes[0]:
                attribute = mesh.attributes.new(stem, "FLOAT_VECTOR", "POINT")
                attribute.data.foreach_set("vector", vectors(vertex, axes).ravel())
        elif vertex.dtype[name].kind == "f":
            mesh.attributes.new(name, "FLOAT", "POINT").data.foreach_set("value", vertex[name].copy())
        else:
            values = vertex[name].astype(np.uint32).view(np.int32)
            mesh.attributes.new(name, "INT", "POINT").data.foreach_set("value", values)


def points_group(has_radius, radius_m):
    """Returns the node group that makes points of vertices, with the radius of the attribute or this one."""
    name = "frazil points, own radius" if has_radius else f"frazil points, {radius_m:g} m"
    if name in bpy.data.node_groups:
        return bpy.data.node_groups[name]
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    source, sink = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    points = group.nodes.new("GeometryNodeMeshToPoints")
    points.inputs["Radius"].default_value = radius_m
    if has_radius:
        attribute = group.nodes.new("GeometryNodeInputNamedAttribute")
        attribute.data_type = "FLOAT"
        attribute.inputs["Name"].default_value = "radius"
        group.links.new(attribute.outputs["Attribute"], points.inputs["Radius"])
    group.links.new(source.outputs[0], points.inputs["Mesh"])
    group.links.new(points.outputs[0], sink.inputs[0])
    return group


def show(thing, start, end):
    """Shows an object from one frame until before another, in the viewport and in renders."""
    for at, is_hidden in [(start - 1, True), (start, False), (end, True)]:
        thing.hide_viewport = thing.hide_render = is_hidden
        thing.keyframe_insert("hide_viewport", frame=at)
        thing.keyframe_insert("hide_render", frame=at)


def collection(name):
    """Returns the collection of a kind of files."""
    if name not in bpy.data.collections:
        bpy.context.scene.collection.children.link(bpy.data.collections.new(name))
    return bpy.data.collections[name]


def vectors(vertex, names):
    return np.stack([vertex[name] for name in names], axis=1)


if __name__ == "__main__":
    main()
