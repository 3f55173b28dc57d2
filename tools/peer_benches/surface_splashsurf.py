"""Times splashsurf's surface around particles: prints the median milliseconds, and what the mesh is.

Arguments: file of positions (surface_block.py), side of a cube in m, repetitions.
"""

import json
import sys
import time

import numpy as np
import pysplashsurf

from surface_block import RADIUS_M

positions = np.fromfile(sys.argv[1], np.float32).reshape(-1, 3)
times = []
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    # The kernel reaches four radii, as far as frazil's with cubes of two radii. Lengths are in radii. Threads
    # share subdomains: the default of 64 cubes on a side would leave one thread alone with the block.
    surface = pysplashsurf.reconstruct_surface(
        positions,
        particle_radius=RADIUS_M,
        rest_density=1000.0,
        smoothing_length=2.0,
        cube_size=float(sys.argv[2]) / RADIUS_M,
        iso_surface_threshold=0.6,
        subdomain_num_cubes_per_dim=32,
    )
    times.append(1e3 * (time.perf_counter() - start))
x, triangles = np.asarray(surface.mesh.vertices, float), np.asarray(surface.mesh.triangles, np.int64)
edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
key, back = edges @ [len(x), 1], edges[:, ::-1] @ [len(x), 1]
assert len(np.unique(key)) == len(key) and np.array_equal(
    np.sort(key), np.sort(back)
), "the surface is not closed"
a, b, c = (x[triangles[:, i]] for i in range(3))
volume = float(np.einsum("ij,ij", a, np.cross(b, c)) / 6)
print(
    json.dumps(
        {
            "ms": float(np.median(times)),
            "count": len(positions),
            "vertices": len(x),
            "triangles": len(triangles),
            "volume_m3": volume,
        }
    )
)
