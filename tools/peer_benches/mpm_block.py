"""The block of snow of mpm.toml, for peers that have no scenes: its positions, sorted by cell, and its material."""

import numpy as np

N, CELLS, DT_S = 100_000, 64, 1e-4
E_PA, POISSON, DENSITY = 1000.0, 0.2, 1.0
LOWER_M, UPPER_M = np.array([0.3187, 0.1, 0.3187]), np.array([0.6813, 0.4626, 0.6813])
MATERIAL = {
    "mu": E_PA / (2 * (1 + POISSON)),
    "lambda": E_PA * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)),
    "mass": DENSITY * float(np.prod(UPPER_M - LOWER_M)) / N,
    "hardening": 10.0,
    "compression": 0.025,
    "stretch": 0.0045,
}


def positions():
    """Returns uniformly random positions in m, shape (N, 3), in the order of their cells."""
    x = np.random.default_rng(1).uniform(LOWER_M, UPPER_M, (N, 3)).astype(np.float32)
    cell = (x * CELLS).astype(np.int64)
    return np.ascontiguousarray(x[np.lexsort(cell.T[::-1])])
