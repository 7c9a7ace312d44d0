# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""out[i] = x[index[i]] in each row of up to 512 halves, through shared memory. Rows are not
aligned: elements are loaded one by one."""


def gather_kernel(k, x: "*f16", index: "*i64", out: "*f16", columns: "i32"):
    row = k.program_id(0) * columns
    places = [k.tid + 128 * part for part in range(4)]
    for column in places:
        v = k.load(x + row + column, column < columns, other=0.0)
        k.store_shared(k.smem(0, "half") + column, v)
    k.barrier()
    for column in places:
        mask = column < columns
        i = k.load(index + row + column, mask).to("i32")
        k.device_assert((i >= 0) & (i < columns), "index out of bounds")
        k.store(out + row + column, k.load_shared(k.smem(0, "half") + i), mask)
