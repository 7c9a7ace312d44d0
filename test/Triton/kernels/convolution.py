# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A convolution of 3 by 3 with 32 channels, as a product whose rows are gathered on the way:
64 places of the image a program, by 32 filters. Images have a border of zeros, which is not
in memory."""

from standard import copy_tile, dot, store_tile, swizzled, zeros

A, B = 0, 4096


def convolution_kernel(k, x: "*f16", filters: "*f16", out: "*f32", height: "i32", width: "i32"):
    first = k.program_id(0) << 6
    acc = zeros(k, 16)
    channel = (k.tid & 3) << 3
    with k.range(0, 9) as step:
        down, across = step // 3 - 1, step % 3 - 1
        for half in (0, 32):
            row = (k.tid >> 2) + half
            place = first + row
            image, inside = place // (height * width), place % (height * width)
            y, z = inside // width + down, inside % width + across
            mask = (y >= 0) & (y < height) & (z >= 0) & (z < width)
            at = x + ((image * height + y) * width + z) * 32 + channel
            k.copy_async(k.smem(A, "i8") + swizzled(k, row, channel), at, mask)
        copy_tile(k, k.smem(B, "i8"), filters + step * 1024, 32, 32)
        k.commit_group()
        k.wait_group(0)
        k.barrier()
        dot(k, k.smem(A, "i8"), k.smem(B, "i8"), acc)
        k.barrier()
    store_tile(k, out + first * 32, k.value(32, "i32"), [v.value for v in acc])
