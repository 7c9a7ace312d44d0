# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locks, messages and tickets: threads that order each other by atomics.

Whoever waits for another block or warp gives up after a while, so that kernels
end whatever runs first.
"""
import orders

TRIES = 200


def poll(w, flag, sync, test, seen):
    """Reads a flag until `test` of it holds; `seen` tells whether it did."""
    w.open(f"for (unsigned Try = 0; Try < {TRIES}u && {seen} == 0u; ++Try)")
    sync.load(w, "Flag", flag)
    w.open(f"if (Flag {test})")
    sync.after_load(w)
    w(f"{seen} = 1u;")
    w.close()
    w.open(f"if ({seen} == 0u)")
    w("__nanosleep(20);")
    w.close()
    w.close()


def spin_lock(s):
    """Plain data behind a lock that is tried, not waited for."""
    k, w, dice = s.k, s.w, s.dice
    wide = dice.percent(60)
    space = "grid" if wide else "shared"
    lock = k.array("unsigned", 2, space, zero=True)
    data = k.array(dice.pick(["unsigned", "Cell", "unsigned long long", "float4"]), 8,
                   space, zero=True)
    sync = orders.choose(k, "gpu" if wide else "cta", k.blocks > 1 and wide)
    who = dice.pick(["Lane == 0u", "Tid % 16u == 3u", "Tid == 0u", "V0 % 4u == 0u", "true"])
    k.repeatable = False
    which = "Tid % 2u" if k.weak(2) else "0u"
    w.open(f"if ({who})")
    w.open(f"for (unsigned Try = 0; Try < {dice.pick([2, 8, 40])}u; ++Try)")
    sync.try_lock(w, "Got", f"&{lock.name}[{which}]")
    w.open("if (Got)")
    at = dice.pick(["0", "V1 % 8u", "Tid % 8u"])
    cell = f"{data.name}[{at}]"
    w(f"V2 += fold({cell});")
    if dice.percent(50):
        w(f"{data.name}[V2 % 8u] = cell<{data.element}>(V2 + Tid);")
    w(f"{cell} = cell<{data.element}>(fold({cell}) * 3u + {s.leaf(s.plain)});")
    sync.unlock(w, f"&{lock.name}[{which}]")
    w("break;")
    w.close()
    w.close()
    w.close()
    if not wide or k.blocks == 1:
        if not k.weak(3):
            w("__syncthreads();")
        w(f"V1 ^= fold({data.name}[V0 % 8u]);")


def warp_lock(s):
    """The first lane locks for all of its warp; the data is the lanes' by turns."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps:
        return spin_lock(s)
    wide = dice.percent(60)
    space = "grid" if wide else "shared"
    is_wide = k.blocks > 1 and wide
    locks = k.array("unsigned", 2, space, zero=True)
    data = k.array(dice.pick(["unsigned", "short", "unsigned char", "uint2"]), 32, space, zero=True)
    sync = orders.choose(k, "gpu" if wide else "cta", is_wide)
    # A second lock inside, which protects nothing by itself.
    inner = orders.choose(k, "gpu" if wide else "cta", is_wide) if dice.percent(30) else None
    k.repeatable = False
    got = k.local("Got")
    which = "Warp % 2u" if k.weak(2) else "0u"
    w(f"unsigned {got} = 0u;")
    w.open("if (Lane == 0u)")
    w.open(f"for (unsigned Try = 0; Try < {dice.pick([4, 20])}u && {got} == 0u; ++Try)")
    sync.try_lock(w, "IsMine", f"&{locks.name}[{which}]")
    w(f"{got} = IsMine;")
    w.close()
    if inner:
        w.open(f"if ({got} != 0u)")
        inner.try_lock(w, "IsInner", f"&{locks.name}[1]" if which == "0u" else f"&{locks.name}[0]")
        w("V3 += IsInner;")
        w.close()
    w.close()
    w(f"{got} = __shfl_sync(~0u, {got}, 0);")
    if not k.weak(3):
        w("__syncwarp();")
    w.open(f"if ({got} != 0u)")
    place = k.permuted("Lane", 32)
    w(f"{data.name}[{place}] = cell<{data.element}>(fold({data.name}[{place}]) + V0);")
    if not k.weak(4):
        w("__syncwarp();")
    w(f"V1 += fold({data.name}[(Lane + {dice.between(1, 31)}u) % 32u]);")
    if not k.weak(4):
        w("__syncwarp();")
    w.open("if (Lane == 0u)")
    sync.unlock(w, f"&{locks.name}[{which}]")
    w.close()
    w.close()
    if k.weak(2):  # Who reads without the lock.
        w(f"V2 ^= fold({data.name}[V0 % 32u]);")


def message(s):
    """One block, or one warp, leaves a message and raises a flag."""
    k, w, dice = s.k, s.w, s.dice
    k.repeatable = False
    if k.blocks > 1 and dice.percent(70):
        return block_message(s)
    if k.warps > 1:
        return warp_message(s)
    return lane_message(s)


def block_message(s):
    k, w, dice = s.k, s.w, s.dice
    element = dice.pick(["unsigned", "float4", "short", "unsigned char", "Wide", "int"])
    data = k.array(element, k.threads, "grid")
    flag = k.array("unsigned", 4, "grid", zero=True)
    got = k.array("unsigned", 1, "shared", zero=True)
    sync = orders.choose(k, "gpu", True)
    source = dice.below(k.blocks)
    w.open(f"if (Block == {source}u)")
    w(f"{data.name}[{k.permuted('Tid', k.threads)}] = cell<{element}>(V0 + Tid);")
    if not k.weak(3):
        w("__syncthreads();")
    w.open("if (Tid == 0u)")
    sync.store(w, f"&{flag.name}[0]", "1u")
    w.close()
    w.otherwise()
    if dice.percent(60):
        w.open("if (Tid == 0u)")
        w("unsigned Seen = 0u;")
        poll(w, f"&{flag.name}[0]", sync, "== 1u", "Seen")
        w(f"{got.name}[0] = Seen;")
        w.close()
        if not k.weak(3):
            w("__syncthreads();")
        w.open(f"if ({got.name}[0] != 0u)")
    else:  # Everybody for himself.
        w("unsigned Seen = 0u;")
        poll(w, f"&{flag.name}[0]", sync, "== 1u", "Seen")
        w.open("if (Seen != 0u)")
    w(f"V1 += fold({data.name}[{s.leaf(s.plain)} % {k.threads}u]);")
    w.close()
    w.close()


def warp_message(s):
    k, w, dice = s.k, s.w, s.dice
    element = dice.pick(["unsigned", "uint2", "short", "unsigned char"])
    space = dice.pick(["shared", "global"])
    data = k.array(element, 32, space)
    flag = k.array("unsigned", 1, space, zero=True)
    sync = orders.choose(k, "cta", False)
    w.open("if (Warp == 0u)")
    w(f"{data.name}[{k.permuted('Lane', 32)}] = cell<{element}>(V0 + Lane);")
    if not k.weak(3):
        w("__syncwarp();")
    w.open(f"if (Lane == {dice.below(32)}u)")
    sync.store(w, f"&{flag.name}[0]", "7u")
    w.close()
    w.otherwise()
    w("unsigned Seen = 0u;")
    poll(w, f"&{flag.name}[0]", sync, "== 7u", "Seen")
    w.open("if (Seen != 0u)")
    w(f"V3 += fold({data.name}[{s.leaf(s.plain)} % 32u]);")
    w.close()
    w.close()


def lane_message(s):
    """From lane to lane, in different branches."""
    k, w, dice = s.k, s.w, s.dice
    data = k.array(dice.pick(["unsigned", "float4", "short"]), 4, "shared")
    flag = k.array("unsigned", 1, "shared", zero=True)
    sync = orders.choose(k, "cta", False)
    w.open("if (Tid == 5u)")
    w(f"{data.name}[1] = cell<{data.element}>(V0 + 9u);")
    sync.store(w, f"&{flag.name}[0]", "1u")
    w.otherwise("else if (Tid == 17u)")
    w("unsigned Seen = 0u;")
    poll(w, f"&{flag.name}[0]", sync, "!= 0u", "Seen")
    w.open("if (Seen != 0u)")
    w(f"V0 ^= fold({data.name}[1]);")
    w.close()
    w.close()


def chain(s):
    """What one block hands to a second, the second hands to a third."""
    k, w, dice = s.k, s.w, s.dice
    if k.blocks < 3:
        return message(s)
    k.repeatable = False
    data = k.array(dice.pick(["unsigned", "uint2", "unsigned short"]), 2, "grid")
    flags = k.array("unsigned", 2, "grid", zero=True)
    first, second = orders.choose(k, "gpu", True), orders.choose(k, "gpu", True)
    w.open("if (Tid == 0u)")
    w.open("if (Block == 0u)")
    w(f"{data.name}[0] = cell<{data.element}>(V0 | 1u);")
    first.store(w, f"&{flags.name}[0]", "1u")
    w.otherwise("else if (Block == 1u)")
    w("unsigned Seen = 0u;")
    poll(w, f"&{flags.name}[0]", first, "== 1u", "Seen")
    w.open("if (Seen != 0u)")
    w(f"{data.name}[1] = cell<{data.element}>(fold({data.name}[0]) + 5u);")
    second.store(w, f"&{flags.name}[1]", "1u")
    w.close()
    w.otherwise("else if (Block == 2u)")
    w("unsigned Seen = 0u;")
    poll(w, f"&{flags.name}[1]", second, "== 1u", "Seen")
    w.open("if (Seen != 0u)")
    w(f"V1 += fold({data.name}[0]);", f"{data.name}[1] = cell<{data.element}>(V1);")
    w.close()
    w.close()
    w.close()


def last_block(s):
    """Who draws the last ticket reads what all others wrote."""
    k, w, dice = s.k, s.w, s.dice
    k.repeatable = False
    n = k.blocks * k.threads
    part = k.array(dice.pick(["unsigned", "float", "Wide", "unsigned char"]), n, "grid")
    ticket = k.array("unsigned", 1, "grid", zero=True)
    last = k.array("unsigned", 1, "shared", zero=True)
    sync = orders.choose(k, "gpu", k.blocks > 1)
    w(f"{part.name}[Gid] = cell<{part.element}>(V0);")
    if not k.weak(4):
        w("__syncthreads();")
    w.open("if (Tid == 0u)")
    sync.add(w, "Ticket", f"&{ticket.name}[0]", "1u")
    w(f"{last.name}[0] = Ticket == {k.blocks - 1}u;")
    # The last one has seen all others' additions, so that it may forget them.
    # Metadata mode knows that only if they release: not where orders are weakened.
    reset = dice.pick(["", "", "at once", "later"])
    if k.racy:
        reset = ""
    if reset == "at once":
        w.open(f"if (Ticket == {k.blocks - 1}u)")
        w(f"{ticket.name}[0] = 0u;")
        w.close()
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w.open(f"if ({last.name}[0] != 0u)")
    if reset == "later":
        w.open(f"if (Tid == {dice.below(k.threads)}u)")
        w(f"{ticket.name}[0] = 0u;")
        w.close()
    w.open(f"for (unsigned I = Tid; I < {n}u; I += {2 * k.threads}u)")
    w(f"V1 += fold({part.name}[{k.permuted('I', n)}]);")
    w.close()
    w.close()


def grid_barrier(s):
    """A barrier of all blocks by hand; who waits too long goes home."""
    k, w, dice = s.k, s.w, s.dice
    k.repeatable = False
    n = k.blocks * k.threads
    data = k.array(dice.pick(["unsigned", "unsigned short", "uint2", "double"]), n, "grid")
    count = k.array("unsigned", 1, "grid", zero=True)
    ready = k.array("unsigned", 1, "shared", zero=True)
    sync = orders.choose(k, "gpu", k.blocks > 1)
    w(f"{data.name}[{k.permuted('Gid', n)}] = cell<{data.element}>(V0 + Gid);")
    if not k.weak(3):
        w("__syncthreads();")
    w.open("if (Tid == 0u)")
    sync.add(w, "Before", f"&{count.name}[0]", "1u")
    w(f"unsigned Seen = Before == {k.blocks - 1}u;")
    poll(w, f"&{count.name}[0]", sync, f">= {k.blocks}u", "Seen")
    w(f"{ready.name}[0] = Seen;")
    w.close()
    if not k.weak(3):
        w("__syncthreads();")
    w.open(f"if ({ready.name}[0] != 0u)")
    w(f"V2 += fold({data.name}[(Gid + {dice.between(1, n)}u) % {n}u]);")
    w.close()


def claim(s):
    """Whoever is first at a cell owns it; nobody else looks before the barrier."""
    k, w, dice = s.k, s.w, s.dice
    k.repeatable = False
    space = dice.pick(["shared", "global"])
    claims = k.array("unsigned", 16, space, zero=True)
    data = k.array(dice.pick(["unsigned", "float4", "Cell", "short"]), 16, space)
    w(f"const unsigned At{claims.name} = ({s.value(s.plain)}) % 16u;")
    at = f"At{claims.name}"
    if k.weak(2):
        w.open(f"if ({claims.name}[{at}] == 0u)")
        w(f"{claims.name}[{at}] = Tid + 1u;")
    else:
        w.open(f"if (atomicCAS(&{claims.name}[{at}], 0u, Tid + 1u) == 0u)")
    w(f"{data.name}[{at}] = cell<{data.element}>(V0 + Tid);")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w(f"V0 += fold({data.name}[V1 % 16u]);")


def queue(s):
    """Tickets give slots, and the slots are read after the barrier."""
    k, w, dice = s.k, s.w, s.dice
    k.repeatable = False
    space = dice.pick(["shared", "global"])
    tail = k.array("unsigned", 1, space, zero=True)
    slots = k.array(dice.pick(["unsigned", "unsigned char", "uint2"]), k.threads, space)
    w.open(f"if ({s.condition(s.plain)})")
    if k.weak(2):
        w(f"unsigned Slot = {tail.name}[0]++;")
    else:
        w(f"unsigned Slot = atomicAdd(&{tail.name}[0], 1u);")
    w(f"{slots.name}[Slot % {k.threads}u] = cell<{slots.element}>(Tid + V1);")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w.open(f"for (unsigned I = Tid; I < {tail.name}[0] && I < {k.threads}u; I += {k.threads // 2}u)")
    w(f"V0 += fold({slots.name}[I]);")
    w.close()
