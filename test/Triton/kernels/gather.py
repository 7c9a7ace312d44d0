# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""out[i] = x[index[i]] in each row of 512, through shared memory."""


def gather_kernel(k, x: "*f32", index: "*i32", out: "*f32"):
    row, column = k.program_id(0) * 512, k.tid << 2
    k.store_shared(k.smem(0) + column, k.load(x + row + column, count=4))
    k.barrier()
    picked = [k.load_shared(k.smem(0) + i) for i in k.load(index + row + column, count=4)]
    k.store(out + row + column, picked)
