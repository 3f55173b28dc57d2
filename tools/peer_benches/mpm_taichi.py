"""Times steps of MLS-MPM of snow in Taichi: prints milliseconds a step, median.

Arguments: steps, threads, and cpu, cuda or vulkan (cpu). A GPU is waited for once in ten steps.
"""

import json
import sys
import time

import numpy as np
import taichi as ti

from mpm_block import CELLS, DT_S, MATERIAL, N, positions

STEPS = int(sys.argv[1])
BACKEND = sys.argv[3] if len(sys.argv) > 3 else "cpu"
STEPS_A_WAIT = 1 if BACKEND == "cpu" else 10
arch = {"cpu": ti.cpu, "cuda": ti.cuda, "vulkan": ti.vulkan}[BACKEND]
ti.init(arch=arch, cpu_max_num_threads=int(sys.argv[2]), default_fp=ti.f32, log_level=ti.WARN)
# Without that backend Taichi goes on with another.
found = ti.lang.impl.current_cfg().arch
if BACKEND != "cpu" and found != arch:
    sys.exit(f"Taichi has no {BACKEND} here, and took {found}")
h = 1.0 / CELLS
mu, lam, mass = MATERIAL["mu"], MATERIAL["lambda"], MATERIAL["mass"]
volume = mass

x = ti.Vector.field(3, ti.f32, N)
v = ti.Vector.field(3, ti.f32, N)
affine = ti.Matrix.field(3, 3, ti.f32, N)
stretch = ti.Matrix.field(3, 3, ti.f32, N)
plastic_volume = ti.field(ti.f32, N)
node_v = ti.Vector.field(3, ti.f32, (CELLS,) * 3)
node_m = ti.field(ti.f32, (CELLS,) * 3)


@ti.func
def weights(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@ti.kernel
def clear():
    for node in ti.grouped(node_m):
        node_v[node] = ti.Vector.zero(ti.f32, 3)
        node_m[node] = 0.0


@ti.kernel
def scatter():
    for p in x:
        unit = ti.Matrix.identity(ti.f32, 3)
        trial = (unit + DT_S * affine[p]) @ stretch[p]
        left, singular, right = ti.svd(trial)
        volume_change = 1.0
        for axis in ti.static(range(3)):
            kept = ti.math.clamp(singular[axis, axis], 1.0 - MATERIAL["compression"], 1.0 + MATERIAL["stretch"])
            plastic_volume[p] *= singular[axis, axis] / kept
            singular[axis, axis] = kept
            volume_change *= kept
        hardening = ti.exp(MATERIAL["hardening"] * (1.0 - plastic_volume[p]))
        elastic = left @ singular @ right.transpose()
        stretch[p] = elastic
        shear = 2.0 * mu * hardening * (elastic - left @ right.transpose()) @ elastic.transpose()
        kirchhoff = shear + lam * hardening * volume_change * (volume_change - 1.0) * unit
        momentum = mass * affine[p] - (4.0 * DT_S * volume / h**2) * kirchhoff
        base = ti.cast(x[p] / h - 0.5, ti.i32)
        f = x[p] / h - base
        w = weights(f)
        for node in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
            weight = w[node[0]][0] * w[node[1]][1] * w[node[2]][2]
            node_v[base + node] += weight * (mass * v[p] + momentum @ ((node - f) * h))
            node_m[base + node] += weight * mass


@ti.kernel
def update_nodes():
    for node in ti.grouped(node_m):
        if node_m[node] > 0.0:
            u = node_v[node] / node_m[node]
            u[1] -= DT_S * 9.81
            for axis in ti.static(range(3)):
                if node[axis] < 3 and u[axis] < 0.0 or node[axis] > CELLS - 3 and u[axis] > 0.0:
                    u[axis] = 0.0
            node_v[node] = u


@ti.kernel
def gather():
    for p in x:
        base = ti.cast(x[p] / h - 0.5, ti.i32)
        f = x[p] / h - base
        w = weights(f)
        speed = ti.Vector.zero(ti.f32, 3)
        gradient = ti.Matrix.zero(ti.f32, 3, 3)
        for node in ti.static(ti.grouped(ti.ndrange(3, 3, 3))):
            u = w[node[0]][0] * w[node[1]][1] * w[node[2]][2] * node_v[base + node]
            speed += u
            gradient += (4.0 / h) * u.outer_product(node - f)
        v[p] = speed
        affine[p] = gradient
        x[p] += DT_S * speed


def step():
    clear()
    scatter()
    update_nodes()
    gather()


x.from_numpy(positions())
stretch.from_numpy(np.tile(np.eye(3, dtype=np.float32), (N, 1, 1)))
plastic_volume.fill(1.0)
for _ in range(5):
    step()
ti.sync()
times = []
for _ in range(-(-STEPS // STEPS_A_WAIT)):
    start = time.perf_counter()
    for _ in range(STEPS_A_WAIT):
        step()
    ti.sync()
    times.append(1e3 * (time.perf_counter() - start) / STEPS_A_WAIT)
assert np.isfinite(x.to_numpy()).all()
print(json.dumps({"ms": float(np.median(times)), "count": N}))
