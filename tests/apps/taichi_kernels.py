"""Kernels of Taichi with fields, loops, atomics and matrices. Prints a digest of each result."""

import hashlib

import numpy as np
import taichi as ti

ti.init(arch=ti.vulkan, offline_cache=False, log_level=ti.ERROR)
N = 128
cells = ti.field(ti.i32, (N, N))
following = ti.field(ti.i32, (N, N))
points = ti.Vector.field(3, ti.f32, N)
histogram = ti.field(ti.i32, 16)


@ti.kernel
def seed():
    for i, j in cells:
        cells[i, j] = ((i * 73 + j * 179) ^ (i * j)) % 3 == 0


@ti.kernel
def step():
    for i, j in cells:
        alive = 0
        for x, y in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            if x != 0 or y != 0:
                alive += cells[(i + x) % N, (j + y) % N]
        following[i, j] = alive == 3 or (alive == 2 and cells[i, j] == 1)
    for i, j in cells:
        cells[i, j] = following[i, j]


@ti.func
def collatz(start):
    count, value = 0, start
    while value > 1:
        value = value // 2 if value % 2 == 0 else value * 3 + 1
        count += 1
    return count


@ti.kernel
def lengths():
    for i in range(1, 4096):
        ti.atomic_add(histogram[collatz(i) % 16], 1)


@ti.kernel
def rotate():
    turn = ti.Matrix([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    for i in points:
        points[i] = turn @ ti.Vector([ti.f32(i), ti.f32(i * i % 7), 0.5])


seed()
for _ in range(16):
    step()
lengths()
rotate()
for name, field in [("life", cells), ("lengths", histogram), ("points", points)]:
    data = np.ascontiguousarray(field.to_numpy())
    print(name, hashlib.sha256(data.tobytes()).hexdigest())
print("collatz", histogram.to_numpy().sum())
