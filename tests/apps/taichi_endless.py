"""A Taichi kernel with a loop that never ends, then one that does. Prints what both leave."""

import taichi as ti

ti.init(arch=ti.vulkan, offline_cache=False, log_level=ti.ERROR)
values = ti.field(ti.i32, 64)
after = ti.field(ti.i32, 64)


@ti.func
def drain(start):
    rest = start
    while rest != 0:
        rest = (rest * 5 + 2) | 1
    return rest


@ti.kernel
def spin():
    for i in values:
        values[i] = drain(i + 1)


@ti.kernel
def count():
    for i in after:
        after[i] = i


spin()
ti.sync()
count()
print("after", after.to_numpy().sum())
