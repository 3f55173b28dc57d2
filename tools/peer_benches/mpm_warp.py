"""Times steps of MLS-MPM of snow in Warp: prints milliseconds a step, median.

Arguments: steps, and cpu, which uses one core, or cuda (cpu). A GPU is waited for once in ten steps.
"""

import json
import sys
import time

import numpy as np
import warp as wp

from mpm_block import CELLS, DT_S, MATERIAL, N, positions

STEPS = int(sys.argv[1])
BACKEND = sys.argv[2] if len(sys.argv) > 2 else "cpu"
STEPS_A_WAIT = 1 if BACKEND == "cpu" else 10
wp.config.quiet = True
wp.config.enable_backward = False
wp.init()
if BACKEND == "cuda" and not wp.is_cuda_available():
    sys.exit("Warp finds no CUDA device")
wp.set_device({"cpu": "cpu", "cuda": "cuda:0"}[BACKEND])

H = wp.constant(1.0 / CELLS)
DT = wp.constant(DT_S)
LAST = wp.constant(CELLS - 3)
MU = wp.constant(MATERIAL["mu"])
LAMBDA = wp.constant(MATERIAL["lambda"])
MASS = wp.constant(MATERIAL["mass"])
HARDENING = wp.constant(MATERIAL["hardening"])
LEAST = wp.constant(1.0 - MATERIAL["compression"])
MOST = wp.constant(1.0 + MATERIAL["stretch"])
Vectors, Matrices, Scalars = wp.array(dtype=wp.vec3), wp.array(dtype=wp.mat33), wp.array(dtype=float)
NodeVectors, NodeScalars = wp.array3d(dtype=wp.vec3), wp.array3d(dtype=float)


@wp.func
def weights(f: float):
    return wp.vec3(0.5 * (1.5 - f) * (1.5 - f), 0.75 - (f - 1.0) * (f - 1.0), 0.5 * (f - 0.5) * (f - 0.5))


@wp.kernel
def scatter(x: Vectors, v: Vectors, affine: Matrices, stretch: Matrices, plastic: Scalars, node_v: NodeVectors,
            node_m: NodeScalars):
    p = wp.tid()
    unit = wp.identity(n=3, dtype=float)
    left, singular, right = wp.svd3((unit + DT * affine[p]) * stretch[p])
    kept = wp.vec3(wp.clamp(singular[0], LEAST, MOST), wp.clamp(singular[1], LEAST, MOST),
                   wp.clamp(singular[2], LEAST, MOST))
    volume = kept[0] * kept[1] * kept[2]
    plastic[p] = plastic[p] * (singular[0] * singular[1] * singular[2]) / volume
    hardening = wp.exp(HARDENING * (1.0 - plastic[p]))
    elastic = left * wp.diag(kept) * wp.transpose(right)
    stretch[p] = elastic
    shear = 2.0 * MU * hardening * (elastic - left * wp.transpose(right)) * wp.transpose(elastic)
    kirchhoff = shear + LAMBDA * hardening * volume * (volume - 1.0) * unit
    momentum = MASS * affine[p] - (4.0 * DT * MASS / (H * H)) * kirchhoff
    at = x[p] / H
    i, j, k = int(at[0] - 0.5), int(at[1] - 0.5), int(at[2] - 0.5)
    f = at - wp.vec3(float(i), float(j), float(k))
    wx, wy, wz = weights(f[0]), weights(f[1]), weights(f[2])
    for a in range(3):
        for b in range(3):
            for c in range(3):
                weight = wx[a] * wy[b] * wz[c]
                offset = (wp.vec3(float(a), float(b), float(c)) - f) * H
                wp.atomic_add(node_v, i + a, j + b, k + c, weight * (MASS * v[p] + momentum * offset))
                wp.atomic_add(node_m, i + a, j + b, k + c, weight * MASS)


@wp.func
def confined(u: float, index: int):
    if (index < 3 and u < 0.0) or (index > LAST and u > 0.0):
        return 0.0
    return u


@wp.kernel
def update_nodes(node_v: NodeVectors, node_m: NodeScalars):
    i, j, k = wp.tid()
    if node_m[i, j, k] > 0.0:
        u = node_v[i, j, k] / node_m[i, j, k] - wp.vec3(0.0, DT * 9.81, 0.0)
        node_v[i, j, k] = wp.vec3(confined(u[0], i), confined(u[1], j), confined(u[2], k))


@wp.kernel
def gather(x: Vectors, v: Vectors, affine: Matrices, node_v: NodeVectors):
    p = wp.tid()
    at = x[p] / H
    i, j, k = int(at[0] - 0.5), int(at[1] - 0.5), int(at[2] - 0.5)
    f = at - wp.vec3(float(i), float(j), float(k))
    wx, wy, wz = weights(f[0]), weights(f[1]), weights(f[2])
    speed = wp.vec3(0.0, 0.0, 0.0)
    gradient = wp.mat33(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for a in range(3):
        for b in range(3):
            for c in range(3):
                u = wx[a] * wy[b] * wz[c] * node_v[i + a, j + b, k + c]
                speed += u
                gradient += (4.0 / H) * wp.outer(u, wp.vec3(float(a), float(b), float(c)) - f)
    v[p] = speed
    affine[p] = gradient
    x[p] = x[p] + DT * speed


x = wp.array(positions(), dtype=wp.vec3)
v, affine = wp.zeros(N, dtype=wp.vec3), wp.zeros(N, dtype=wp.mat33)
stretch = wp.array(np.tile(np.eye(3, dtype=np.float32), (N, 1, 1)), dtype=wp.mat33)
plastic = wp.full(N, 1.0, dtype=float)
node_v, node_m = wp.zeros((CELLS,) * 3, dtype=wp.vec3), wp.zeros((CELLS,) * 3, dtype=float)


def step():
    node_v.zero_()
    node_m.zero_()
    wp.launch(scatter, dim=N, inputs=[x, v, affine, stretch, plastic, node_v, node_m])
    wp.launch(update_nodes, dim=(CELLS,) * 3, inputs=[node_v, node_m])
    wp.launch(gather, dim=N, inputs=[x, v, affine, node_v])


for _ in range(5):
    step()
times = []
wp.synchronize()
for _ in range(-(-STEPS // STEPS_A_WAIT)):
    start = time.perf_counter()
    for _ in range(STEPS_A_WAIT):
        step()
    wp.synchronize()
    times.append(1e3 * (time.perf_counter() - start) / STEPS_A_WAIT)
assert np.isfinite(x.numpy()).all()
print(json.dumps({"ms": float(np.median(times)), "count": N}))
