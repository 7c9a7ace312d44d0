# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels share. Its lines are inlined into theirs, as those of Triton's library are."""


def cdiv(x, y):
    return (x + (y - 1)) // y


def add(k, a, b):
    return a + b


def maximum(k, a, b):
    return k.maximum(a, b)


def reduce_in_warp(k, value, combine, lanes=32):
    """Over groups of `lanes` lanes; each gets the result."""
    distance = lanes // 2
    while distance:
        value = combine(k, value, k.shuffle("bfly", value, distance))
        distance //= 2
    return value


def reduce(k, values, combine, scratch=0, racy=False):
    """Over all elements of a block of four warps: in a thread, in a warp, through memory."""
    value = values[0]
    for other in values[1:]:
        value = combine(k, value, other)
    value = reduce_in_warp(k, value, combine)
    lane, warp = k.tid & 31, k.tid >> 5
    k.store_shared(k.smem(scratch, value.type) + warp, value, lane.equals(0))
    if not racy:
        k.barrier()
    value = reduce_in_warp(k, k.load_shared(k.smem(scratch, value.type) + (lane & 3)), combine, 4)
    return value


def total(k, values, scratch=0):
    return reduce(k, values, add, scratch)


def largest(k, values, scratch=0):
    return reduce(k, values, maximum, scratch)


def swizzled(k, row, column):
    """Bytes from the start of a tile with rows of 32 halves (64 bytes), whose pieces of 16 bytes
    are permuted so that a column's are in different banks."""
    piece = (column >> 3) ^ ((row >> 1) & 3)
    return (row << 6) + (piece << 4)


def fragment(k, tile, first, column, transposed=False):
    """Sixteen rows from `first`, sixteen columns from `column`, as mma wants them."""
    lane = k.tid & 31
    row, piece = first + (lane & 15), (lane >> 4) << 3
    address = tile + swizzled(k, row, piece + column)
    return k.load_matrix(address, transposed)


def dot(k, a_tile, b_tile, acc):
    """acc += a * b of tiles of 64 by 32 and 32 by 32 halves; a warp has 16 rows of it."""
    rows = (k.tid >> 5) << 4
    for depth in (0, 16):
        a = fragment(k, a_tile, rows, depth)
        for half in (0, 1):
            b = fragment(k, b_tile, k.value(depth, "i32"), 16 * half, transposed=True)
            # Rows 0 to 15 of each of the two tiles of eight columns.
            multiply(k, a, [b[0], b[1]], acc, 2 * half)
            multiply(k, a, [b[2], b[3]], acc, 2 * half + 1)


def multiply(k, a, b, acc, tile):
    old = [v.value for v in acc[4 * tile:4 * tile + 4]]
    for variable, new in zip(acc[4 * tile:], k.mma(a, b, old)):
        variable.value = new


def zeros(k, count):
    return [k.variable(0.0) for _ in range(count)]


def accumulator_places(k):
    """Row and column of the first of two elements that follow each other, for each pair of a
    thread's sixteen elements of a tile of 64 by 32."""
    lane, warp = k.tid & 31, k.tid >> 5
    for tile in range(4):
        for upper in (0, 1):
            yield (warp << 4) + (lane >> 2) + 8 * upper, ((lane & 3) << 1) + 8 * tile


def copy_tile(k, tile, pointer, stride, rows, mask=None):
    """Begins copies of `rows` rows of 32 halves; a thread copies 16 bytes of each 32 rows."""
    row, column = k.tid >> 2, (k.tid & 3) << 3
    for first in range(0, rows, 32):
        at = row + first
        k.copy_async(tile + swizzled(k, at, column), pointer + at * stride + column, mask)


def load_products(k, a, b, stride_a, stride_b, depth, stages, racy=False, tiles=0):
    """acc = a * b for a tile of 64 by 32: copies are `stages` tiles ahead of products."""
    acc = zeros(k, 16)
    a_tiles, b_tiles = k.smem(tiles, "i8"), k.smem(tiles + stages * 4096, "i8")

    def copy(step, slot):
        inside = step * 32 < depth
        copy_tile(k, a_tiles + slot * 4096, a + step * 32, stride_a, 64, inside)
        copy_tile(k, b_tiles + slot * 2048, b + step * 32 * stride_b, stride_b, 32, inside)
        k.commit_group()

    for step in range(stages - 1):
        copy(k.value(step, "i32"), k.value(step, "i32"))
    with k.range(0, cdiv(depth, 32)) as step:
        if not racy:
            k.wait_group(stages - 2)
        k.barrier()
        copy(step + (stages - 1), (step + (stages - 1)) % stages)
        slot = step % stages
        dot(k, a_tiles + slot * 4096, b_tiles + slot * 2048, acc)
    k.wait_group(0)
    k.barrier()
    return [v.value for v in acc]


def store_tile(k, pointer, stride, acc):
    """Stores the accumulators of a tile of 64 by 32 floats, two at a time."""
    for n, (row, column) in enumerate(accumulator_places(k)):
        k.store(pointer + row * stride + column, acc[2 * n:2 * n + 2])
