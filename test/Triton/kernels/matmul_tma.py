# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c = a * b of halves, whose tiles of 64 by 32 and 32 by 32 tensor copies bring.

The twin refills a tile while slower warps still read it.
"""

from standard import accumulator_places, cdiv, dot, zeros

TARGET = "sm_90"
STAGES = 2
A, B, C, FULL = 0, 4096 * STAGES, 6144 * STAGES, 6144 * STAGES + 8192


def matmul_tma_kernel(k, a: "descriptor", b: "descriptor", c: "descriptor", depth: "i32"):
    row, column = k.program_id(0) << 6, k.program_id(1) << 5
    full = k.smem(FULL, "i64")
    for slot in range(STAGES):
        k.init_barrier(full + slot, 1)
    k.barrier()
    acc = zeros(k, 16)

    def fill(step, slot):
        mask = k.elected() & (step * 32 < depth)
        k.expect(full + slot, 6144, mask)
        # RACY-DAG: matmul_tma.py:[[#@LINE+1]]:
        k.tensor_load(k.smem(A, "i8") + slot * 4096, a, step * 32, row, full + slot, mask)
        k.tensor_load(k.smem(B, "i8") + slot * 2048, b, column, step * 32, full + slot, mask)

    for step in range(STAGES - 1):
        fill(k.value(step, "i32"), k.value(step, "i32"))
    with k.range(0, cdiv(depth, 32)) as step:
        slot = step % STAGES
        k.wait_barrier(full + slot, (step // STAGES) & 1)
        if not k.racy:
            k.barrier()
        fill(step + (STAGES - 1), (step + (STAGES - 1)) % STAGES)
        # RACY-DAG: inlined in dot at {{.*}}standard.py:
        # RACY-DAG: inlined in matmul_tma_kernel at {{.*}}matmul_tma.py:[[#@LINE+1]]:
        dot(k, k.smem(A, "i8") + slot * 4096, k.smem(B, "i8") + slot * 2048, acc)
    values = [v.value for v in acc]
    for n, (y, x) in enumerate(accumulator_places(k)):
        k.store_shared(k.smem(C) + (y << 5) + x, values[2 * n:2 * n + 2])
    k.fence_async()
    k.barrier()
    k.tensor_store(c, column, row, k.smem(C))
    k.wait_stores()
    for slot in range(STAGES):
        k.inval_barrier(full + slot)
