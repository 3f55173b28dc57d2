"""Measures how much too dense the particles of water are, by SPH's density of their positions."""

import numpy as np
from scipy.spatial import cKDTree


def compression(frames, spacing_m, box_m):
    """Returns the mean and the greatest max(ρ/ρ₀ − 1, 0) of particles that no wall is in reach of.

    Arrays of positions in m, one a frame, in a box from the origin. ρ is that of the cubic spline with a
    support of two spacings and particles of the volume of a cell of a cubic lattice: both programs' own.
    """
    support_m = 2 * spacing_m
    excess = []
    for x in frames:
        pairs = cKDTree(x).query_pairs(support_m, output_type="ndarray")
        q = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) / support_m
        weight = spline(q)
        ratio = np.full(len(x), spline(np.zeros(1))[0])
        np.add.at(ratio, pairs[:, 0], weight)
        np.add.at(ratio, pairs[:, 1], weight)
        is_inner = np.all((x > support_m) & (x < np.asarray(box_m) - support_m), axis=1)
        excess.append(np.maximum(ratio[is_inner] - 1, 0))
    return float(np.mean([each.mean() for each in excess])), float(max(each.max() for each in excess))


def spline(q):
    """Returns the cubic spline at r/h times the volume of a particle, (h/2)³."""
    shape = np.where(q < 0.5, 6 * q**3 - 6 * q**2 + 1, np.where(q < 1, 2 * (1 - q) ** 3, 0))
    return 8 / np.pi / 8 * shape
