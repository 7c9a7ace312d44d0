# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c = a * b of halves: the fifth warp has tensor copies bring tiles, the others multiply them.

The twin gives a tile back when the first of the warps has used it.
"""

from standard import cdiv, dot, store_tile, zeros

TARGET = "sm_90"
THREADS = 160
STAGES = 2
A, B = 0, 4096 * STAGES
FULL, EMPTY = 6144 * STAGES, 6144 * STAGES + 8 * STAGES


def produce(k, a, b, row, column, steps):
    full, empty = k.smem(FULL, "i64"), k.smem(EMPTY, "i64")
    with k.range(0, steps) as step:
        slot = step % STAGES
        k.wait_barrier(empty + slot, ((step // STAGES) & 1) ^ 1)
        mask = k.elected(warp=4)
        k.expect(full + slot, 6144, mask)
        # RACY-DAG: warp_roles.py:[[#@LINE+1]]:
        k.tensor_load(k.smem(A, "i8") + slot * 4096, a, step * 32, row, full + slot, mask)
        k.tensor_load(k.smem(B, "i8") + slot * 2048, b, column, step * 32, full + slot, mask)


def consume(k, steps):
    full, empty = k.smem(FULL, "i64"), k.smem(EMPTY, "i64")
    acc = zeros(k, 16)
    with k.range(0, steps) as step:
        slot = step % STAGES
        k.wait_barrier(full + slot, (step // STAGES) & 1)
        # RACY-DAG: warp_roles.py:[[#@LINE+1]]:
        dot(k, k.smem(A, "i8") + slot * 4096, k.smem(B, "i8") + slot * 2048, acc)
        if not k.racy:
            k.barrier_of(1, 128)
        k.arrive(empty + slot, k.tid.equals(0))
    return [v.value for v in acc]


def warp_roles_kernel(k, a: "descriptor", b: "descriptor", c: "*f32", n: "i32", depth: "i32"):
    row, column = k.program_id(0) << 6, k.program_id(1) << 5
    for slot in range(STAGES):
        k.init_barrier(k.smem(FULL, "i64") + slot, 1)
        k.init_barrier(k.smem(EMPTY, "i64") + slot, 1)
    k.barrier()
    steps = cdiv(depth, 32)
    with k.when(k.tid >= 128):
        produce(k, a, b, row, column, steps)
    with k.when(k.tid < 128):
        store_tile(k, c + row * n + column, n, consume(k, steps))
