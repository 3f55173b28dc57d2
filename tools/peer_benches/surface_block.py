"""Writes a block of 103 823 particles on a disturbed lattice: positions in m, three f32 each."""

import sys

import numpy as np

SIDE, RADIUS_M = 47, 0.01

if __name__ == "__main__":
    x = 2 * RADIUS_M * np.mgrid[0:SIDE, 0:SIDE, 0:SIDE].reshape(3, -1).T
    x += np.random.default_rng(1).uniform(-0.1 * RADIUS_M, 0.1 * RADIUS_M, x.shape)
    x.astype(np.float32).tofile(sys.argv[1])
