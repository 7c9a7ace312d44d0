# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of a warp that act together: tiles, partitions, masks, whoever is there.

Which lanes are together at some point is not promised, so that what depends on it is
only ever added up.
"""
from barriers import turns
from meetings import meet, rolled, trips

ELEMENTS = ["unsigned", "short", "unsigned char", "float4", "Cell"]


def exchange(s, group, a, lane, size, base):
    """Members write, meet, read what another wrote, and meet again."""
    k, w, dice = s.k, s.w, s.dice
    w(f"{a.name}[{base} + {lane}] = cell<{a.element}>({s.value(s.plain)});")
    if not k.weak(4):
        w(f"{group}.sync();")
    w(f"V0 += fold({a.name}[{base} + ({lane} + {dice.between(1, 31)}u) % {size}]);")
    if not k.weak(4):
        w(f"{group}.sync();")


def group_value(s, group):
    """Something that a whole group computes; the same whoever is a member first."""
    dice, leaf = s.dice, s.leaf(s.plain)
    return dice.pick([
        f"cg::reduce({group}, {leaf}, cg::plus<unsigned>())",
        f"cg::reduce({group}, {leaf}, cg::greater<unsigned>())",
        f"cg::reduce({group}, {leaf}, cg::bit_xor<unsigned>())",
        f"{group}.size()", f"({group}.any({leaf} % 8u == 3u) ? 3u : 5u)",
        f"({group}.all({leaf} % 8u != 3u) ? 3u : 5u)", f"{group}.shfl({leaf}, 0)"])


def tiles(s):
    """tiled_partition of the block, in loops that tiles leave at different times."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps or not k.flat:
        return turns(s)
    k.needs_groups = True
    size = dice.pick([32, 32, 16, 8, 4, 2])
    a = k.array(dice.pick(ELEMENTS), k.threads, dice.pick(["shared", "shared", "global"]))
    tile, r = k.local("Tile"), k.local("R")
    w(f"const auto {tile} = cg::tiled_partition<{size}>(cg::this_thread_block()); // keep")
    bound = dice.pick([f"{dice.between(1, 3)}u", f"Tid / {size}u % 3u + 1u"])
    rolled(s)
    w.open(f"for (unsigned {r} = 0; {r} < {bound}; ++{r})")
    if dice.percent(60):
        i = k.local("I")
        rolled(s)
        w.open(f"for (unsigned {i} = 0; {i} < {trips(s)}; ++{i})")
        w(f"V1 = V1 * 3u + {i};")
        w.close()
    lane = f"{tile}.thread_rank()"
    exchange(s, tile, a, lane, f"{size}u", f"Tid / {size}u * {size}u")
    w(dice.pick([f"V1 ^= {group_value(s, tile)};",
                 f"V1 += cg::inclusive_scan({tile}, {s.leaf(s.plain)}, cg::plus<unsigned>());",
                 f"V1 ^= {tile}.shfl_xor({s.leaf(s.plain)}, {max(size // 2, 1)});",
                 f"V1 ^= {tile}.shfl_down({s.leaf(s.plain)}, 1);",
                 f"V1 += {tile}.ballot({s.condition(s.plain)});",
                 f"V1 += {tile}.match_any({s.leaf(s.plain)} % 4u);"]))
    w.close()


def partition(s):
    """A warp parted by labels or by a condition; members exchange in their parts."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps or not k.flat:
        return turns(s)
    k.needs_groups = True
    a = k.array(dice.pick(ELEMENTS), k.threads, dice.pick(["shared", "shared", "global"]))
    warp, part, peer = k.local("All"), k.local("Part"), k.local("Peer")
    w(f"const auto {warp} = cg::tiled_partition<32>(cg::this_thread_block()); // keep")
    if dice.percent(50):
        w(f"const auto {part} = cg::labeled_partition({warp}, (int)({s.value(s.plain)} % {dice.between(2, 5)}u)); // keep")
    else:
        w(f"const auto {part} = cg::binary_partition({warp}, {s.condition(s.plain)}); // keep")
    w(f"const unsigned {peer} = {part}.shfl(Lane, ({part}.thread_rank() + {dice.between(1, 7)}u) % {part}.size()); // keep")
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});")
    if not k.weak(4):
        w(f"{part}.sync();")
    w(f"V0 += fold({a.name}[Warp * 32u + {peer}]);")
    if not k.weak(4):
        w(f"{part}.sync();")
    w(f"V1 ^= {group_value(s, part)};", f"{a.name}[Tid] = cell<{a.element}>(V1);")


def present(s):
    """Whoever is there elects one who adds for all; only sums are looked at."""
    k, w, dice = s.k, s.w, s.dice
    total = k.array("unsigned", 4, dice.pick(["shared", "global"]), zero=True)
    is_group = dice.percent(50)
    k.needs_groups |= is_group
    i, n = k.local("I"), k.local("N")
    w(f"const unsigned {n} = {trips(s)};")
    rolled(s)
    w.open(f"for (unsigned {i} = 0; {i} < {n}; ++{i})")
    is_guarded = dice.percent(50)
    if is_guarded:
        w.open(f"if ({s.condition(s.plain)})")
    mine = s.leaf(s.plain)
    if is_group:
        w("const auto Here = cg::coalesced_threads(); // keep")
        if dice.percent(50):
            w("Here.sync();")
        w(f"const unsigned Sum = cg::reduce(Here, {mine}, cg::plus<unsigned>());",
          "const bool IsFirst = Here.thread_rank() == 0u;")
    else:
        w("const unsigned Here = __activemask(); // keep",
          f"const unsigned Sum = __reduce_add_sync(Here, {mine});",
          f"const bool IsFirst = {dice.pick(['Lane == (unsigned)__ffs((int)Here) - 1u', 'isElected(Here)'])};")
    w.open("if (IsFirst)")
    cell = f"{total.name}[{dice.below(4)}]"
    w(f"{cell} += Sum;" if k.weak(3) else f"atomicAdd(&{cell}, Sum);")
    w.close()
    if not is_group and dice.percent(50):
        w("__syncwarp(Here);")
    if is_guarded:
        w.close()
    w.close()
    meet(s, 4)
    w(f"V0 += {total.name}[V1 % 4u];")


def ballot_masks(s):
    """Both parts of a warp, by any condition, act with their own masks."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps:
        return turns(s)
    a = k.array(dice.pick(ELEMENTS), k.threads, dice.pick(["shared", "shared", "global"]))
    yes, r = k.local("Yes"), k.local("R")
    rolled(s)
    w.open(f"for (unsigned {r} = 0; {r} < {dice.between(1, 3)}u; ++{r})")
    w(f"const unsigned {yes} = __ballot_sync(~0u, {s.condition(s.plain)}); // keep")
    w.open(f"if ({yes} >> Lane & 1u)")
    apart(s, a, yes)
    w.otherwise()
    apart(s, a, f"~{yes}")
    w.close()
    w("__syncwarp();")
    w.close()


def apart(s, a, mask):
    k, w, dice = s.k, s.w, s.dice
    first = f"__ffs((int)({mask})) - 1"
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});")
    if not k.weak(4):
        w(f"__syncwarp({mask});")
    w(f"V0 += fold({a.name}[Warp * 32u + (unsigned)({first})]);")
    v = dice.pick(["V0", "V1", "V2"])
    w(dice.pick([f"{v} ^= __shfl_sync({mask}, {v}, {first});",
                 f"{v} += __reduce_add_sync({mask}, {s.leaf(s.plain)});",
                 f"{v} += __reduce_min_sync({mask}, {s.leaf(s.plain)});",
                 f"{v} += __popc(__match_any_sync({mask}, {s.leaf(s.plain)} % 4u));",
                 f"{v} += __ballot_sync({mask}, {s.condition(s.plain)});",
                 f"{v} += __all_sync({mask}, {s.condition(s.plain)}) ? 3u : 7u;",
                 f"{v} += isElected({mask}) ? 0u : {v} % 2u * 0u;"]))
    if not k.weak(4):
        w(f"__syncwarp({mask});")
