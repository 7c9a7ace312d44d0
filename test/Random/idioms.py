# Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole patterns of synchronisation, on arrays of their own.

Each is written where all threads of the block are. Whoever waits for another
block or warp gives up after a while, so that kernels end whatever runs first.
"""
import orders

TRIES = 200


def poll(w, flag, sync, test, seen, body=None):
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


def reduction(s):
    """A tree; its last levels are one warp's."""
    k, w, dice = s.k, s.w, s.dice
    if k.threads & (k.threads - 1):
        return scan(s)
    a = k.array(dice.pick(["unsigned", "unsigned long long", "float", "int"]), k.threads,
                dice.pick(["shared", "dynamic", "global"]))
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});", "__syncthreads();")
    n = k.threads // 2
    stop = 32 if n > 32 and dice.percent(50) else 0
    w.open(f"for (unsigned Half = {n}u; Half > {stop}u; Half /= 2u)")
    w.open("if (Tid < Half)")
    w(f"{a.name}[Tid] = cell<{a.element}>(fold({a.name}[Tid]) + fold({a.name}[Tid + Half]));")
    w.close()
    if not k.weak(3):
        w("__syncthreads();")
    w.close()
    if stop:
        w.open("if (Warp == 0u)")
        w.open("for (unsigned Half = 32u; Half > 0u; Half /= 2u)")
        w(f"unsigned Sum = fold({a.name}[Tid]) + fold({a.name}[Tid + Half]);")
        if not k.weak(4):
            w("__syncwarp();")
        w(f"{a.name}[Tid] = cell<{a.element}>(Sum);")
        if not k.weak(4):
            w("__syncwarp();")
        w.close()
        w.close()
        if not k.weak(3):
            w("__syncthreads();")
    w(f"V0 += fold({a.name}[0]);")


def scan(s):
    """In place, with a barrier between reading and writing."""
    k, w, dice = s.k, s.w, s.dice
    a = k.array(dice.pick(["unsigned", "unsigned short", "uint2"]), k.threads,
                dice.pick(["shared", "global"]))
    w(f"{a.name}[Tid] = cell<{a.element}>({s.leaf(s.plain)});", "__syncthreads();")
    w.open(f"for (unsigned Step = 1u; Step < {k.threads}u; Step *= 2u)")
    w(f"unsigned Left = Tid >= Step ? fold({a.name}[Tid - Step]) : 0u;")
    if not k.weak(4):
        w("__syncthreads();")
    w.open("if (Tid >= Step)")
    w(f"{a.name}[Tid] = cell<{a.element}>(fold({a.name}[Tid]) + Left);")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w.close()
    w(f"V1 ^= fold({a.name}[Tid]);")


def double_buffer(s):
    """Two halves, read and written by turns."""
    k, w, dice = s.k, s.w, s.dice
    e = dice.pick(["unsigned", "short", "float4", "Wide", "unsigned char"])
    space = dice.pick(["shared", "shared", "global"])
    swaps = dice.percent(50)
    t = k.threads
    shift = dice.between(1, t)
    if swaps:
        one, two = k.array(e, t, space), k.array(e, t, space)
        here, there = k.local("P"), k.local("P")
        w(f"{e} *{here} = {one.name};", f"{e} *{there} = {two.name};")
    else:
        a = k.array(e, 2 * t, space)
    w.open(f"for (unsigned R = 0; R < {dice.between(2, 4)}u; ++R)")
    if swaps:
        w(f"{here}[Tid] = cell<{e}>(V0 + R);")
        if not k.weak(4):
            w("__syncthreads();")
        w(f"V0 += fold({here}[(Tid + {shift}u) % {t}u]);")
        swapped = k.local("P")
        w(f"{e} *{swapped} = {here}; // keep", f"{here} = {there}; // keep", f"{there} = {swapped}; // keep")
    else:
        w(f"{a.name}[R % 2u * {t}u + Tid] = cell<{e}>(V0 ^ R);")
        if not k.weak(4):
            w("__syncthreads();")
        w(f"V0 += fold({a.name}[R % 2u * {t}u + (Tid + {shift}u) % {t}u]);")
    w.close()


def turns(s):
    """Each warp in turn owns everything."""
    k, w, dice = s.k, s.w, s.dice
    a = k.array(dice.pick(["unsigned", "short", "Cell", "double"]), 32,
                dice.pick(["shared", "global", "dynamic"]))
    w.open(f"for (unsigned R = 0; R < {min(k.warps + 1, 4)}u; ++R)")
    w.open(f"if (Warp == R % {k.warps}u)")
    w(f"{a.name}[{k.permuted('Lane', 32)}] = cell<{a.element}>(V0 + R);")
    if not k.weak(4):
        w("__syncwarp();")
    w(f"V0 += fold({a.name}[(Lane + {dice.between(1, 31)}u) % 32u]);")
    w.close()
    if not k.weak(3):
        w("__syncthreads();")
    w.close()


def histogram(s):
    """Shared counts, then global ones."""
    k, w, dice = s.k, s.w, s.dice
    bins = dice.pick([8, 16, 32])
    local = k.array("unsigned", bins, "shared", zero=True)
    total = k.array("unsigned", bins, "grid", zero=True)
    w.open(f"for (unsigned I = Gid; I < 512u; I += {k.threads * k.blocks * 2}u)")
    if k.weak(2):
        w(f"{local.name}[In[I] % {bins}u] += 1u;")
    else:
        w(f"atomicAdd{dice.pick(['', '_block'])}(&{local.name}[In[I] % {bins}u], 1u);")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w.open(f"for (unsigned I = Tid; I < {bins}u; I += {k.threads}u)")
    scope = dice.pick(["_block"]) if k.weak(2) else dice.pick(["", "_system"])
    if k.weak():
        w(f"{total.name}[I] += {local.name}[I];")
    else:
        w(f"atomicAdd{scope}(&{total.name}[I], {local.name}[I]);")
    w.close()


def strided(s):
    """A grid-stride loop over what belongs to this thread only."""
    k, w, dice = s.k, s.w, s.dice
    t = k.threads * k.blocks
    n = dice.between(t // 2, 3 * t)
    a = k.array(dice.pick(["unsigned", "unsigned char", "float4", "Wide", "short"]), n, "grid")
    step = t - 1 if k.weak(3) and t > 1 else t
    w.open(f"for (unsigned I = Gid; I < {n}u; I += {step}u)")
    w(f"V0 += fold({a.name}[I]);")
    if dice.percent(50):
        w.open(f"if ({s.condition(s.plain)})")
        w(f"{a.name}[I] = cell<{a.element}>(V0 + I);")
        w.close()
    else:
        w(f"{a.name}[I] = cell<{a.element}>(V0 ^ I);")
    w.close()


def specialised(s):
    """Producers and consumers meet at named barriers."""
    k, w, dice = s.k, s.w, s.dice
    if k.threads not in (64, 128):
        return double_buffer(s)
    half = k.threads // 2
    a = k.array(dice.pick(["unsigned", "float4", "short"]), half, "shared")
    w.open(f"if (Tid < {half}u)")
    w.open("for (unsigned R = 0; R < 3u; ++R)")
    is_free = f'asm volatile("bar.sync 2, {k.threads};" ::: "memory");'
    fill = f"{a.name}[{k.permuted('Tid', half)}] = cell<{a.element}>(V0 + R);"
    w(*([fill, is_free] if k.weak(4) else [is_free, fill]))
    w(f'asm volatile("bar.arrive 1, {k.threads};" ::: "memory");')
    w.close()
    w.otherwise()
    w.open("for (unsigned R = 0; R < 3u; ++R)")
    w(f'asm volatile("bar.arrive 2, {k.threads};" ::: "memory");',
      f'asm volatile("bar.sync 1, {k.threads};" ::: "memory");')
    w(f"V0 += fold({a.name}[(Tid + {dice.below(half)}u) % {half}u]);")
    w.close()
    w.close()
    w("__syncthreads();")


def copy_helper(s):
    """A function that starts a copy of a float4 into shared memory."""
    f, h = s.k.name("copy"), s.k.helpers
    h.open(f"__device__ __forceinline__ void {f}(void *To, const void *From)")
    h('asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(To)), "l"(From) : "memory");')
    h.close()
    h("")
    return f


COMMIT = 'asm volatile("cp.async.commit_group;" ::: "memory");'


def async_copy(s):
    """cp.async into shared memory, waited for."""
    k, w, dice = s.k, s.w, s.dice
    if dice.percent(60):
        return copy_pipeline(s)
    a = k.array("float4", k.threads, "shared")
    f = copy_helper(s)
    w("__syncthreads();",
      f"{f}(&{a.name}[Tid], &In[(Gid * 4u) % {1024 - 4}u / 4u * 4u]);")
    w(COMMIT)
    if not k.weak(4):
        w('asm volatile("cp.async.wait_group 0;" ::: "memory");')
    if not k.weak(3):
        w("__syncthreads();")
    w(f"V0 += fold({a.name}[(Tid + {dice.between(0, 40)}u) % {k.threads}u]);")


def copy_pipeline(s):
    """Copies of several stages, each waited for when it is its turn."""
    k, w, dice = s.k, s.w, s.dice
    stages = dice.between(2, 4 if k.threads <= 128 else 2)
    a = k.array("float4", k.threads * stages, "shared")
    f, r = copy_helper(s), k.local("Round")

    def start(stage):
        w(f"{f}(&{a.name}[{stage} * {k.threads}u + Tid], &In[(Gid * 4u) % {1024 - 4}u / 4u * 4u]);")
        if not k.weak(1):
            w(COMMIT)

    def wait():
        keep = stages - 2 + (1 if k.weak(2) else 0)
        w(dice.pick([f'asm volatile("cp.async.wait_group {keep};" ::: "memory");',
                     f'asm volatile("cp.async.wait_group {keep};" ::: "memory");',
                     'asm volatile("cp.async.wait_all;" ::: "memory");']))

    w("__syncthreads();")
    for stage in range(stages - 1):
        start(f"{stage}u")
    w.open(f"for (unsigned {r} = 0; {r} < {dice.between(2, 7)}u; ++{r})")
    late = k.weak(2)
    if not late and not k.weak(2):
        wait()
    if not k.weak(2):
        w("__syncthreads();")
    if late:
        wait()
    w(f"V0 += fold({a.name}[{r} % {stages}u * {k.threads}u + (Tid + {dice.between(0, 40)}u) % {k.threads}u]);")
    if stages == 2 and not k.weak(2):
        w("__syncthreads();")
    start(f"({r} + {stages - 1}u) % {stages}u")
    w.close()
    if not k.weak(2):
        w('asm volatile("cp.async.wait_all;" ::: "memory");')
    if not k.weak(2):
        w("__syncthreads();")


def peers(s):
    """Lanes with equal keys elect who writes for them."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps:
        return queue(s)
    a = k.array(dice.pick(["unsigned", "short", "unsigned char", "Cell"]), k.warps * 8, "shared")
    key, mates = k.local("Key"), k.local("Mates")
    w(f"const unsigned {key} = {s.leaf(s.plain)} % 8u;",
      f"const unsigned {mates} = __match_any_sync(~0u, {key});")
    leader = f"Lane == (unsigned)__ffs((int){mates}) - 1u"
    w.open(f"if ({'Lane % 2u == 0u' if k.weak(3) else leader})")
    w(f"{a.name}[Warp * 8u + {key}] = cell<{a.element}>(fold({a.name}[Warp * 8u + {key}]) + (unsigned)__popc({mates}));")
    w.close()
    if not k.weak(4):
        w("__syncwarp();")
    w(f"V2 += fold({a.name}[Warp * 8u + V0 % 8u]);")


def indirect(s):
    """A permutation that is itself in memory says who owns what."""
    k, w, dice = s.k, s.w, s.dice
    t = k.threads
    link = k.array(dice.pick(["unsigned", "unsigned char", "unsigned short"]), t,
                   dice.pick(["shared", "global"]))
    data = k.array(dice.pick(["unsigned", "float4", "Cell", "unsigned char"]), t,
                   dice.pick(["shared", "global", "dynamic"]))
    target = f"Tid * 3u % {max(t // 2, 1)}u" if k.weak(3) else k.permuted("Tid", t)
    w(f"{link.name}[{k.permuted('Tid', t)}] = cell<{link.element}>({target});")
    if not k.weak(2):
        w("__syncthreads();")
    mine = k.local("Mine")
    w(f"const unsigned {mine} = fold({link.name}[Tid]) % {t}u;")
    w.open(f"if ({s.condition(s.plain)})")
    w(f"{data.name}[{mine}] = cell<{data.element}>(fold({data.name}[{mine}]) + V0);")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w(f"V1 += fold({data.name}[V2 % {t}u]);")


def bit_fields(s):
    """Neighbours of one word; only one thread may touch them at a time."""
    k, w, dice = s.k, s.w, s.dice
    a = k.array("Bits", 16, dice.pick(["shared", "global"]), zero=True)
    w.open("if (Tid < 16u)")
    w(f"{a.name}[Tid].A = V0;", f"V1 += {a.name}[Tid].B;")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w.open("if (Tid >= 16u && Tid < 32u)")
    w(f"{a.name}[Tid - 16u].B = V1;", f"V0 += {a.name}[Tid - 16u].A;")
    w.close()


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


def phase_object(s):
    """Producers arrive at an mbarrier, and consumers wait for its phase."""
    k, w, dice = s.k, s.w, s.dice
    if k.threads < 64:
        return lane_message(s)
    half = k.threads // 64 * 32
    element = dice.pick(["unsigned", "float4", "unsigned char", "short"])
    a = k.array(element, half, "shared")
    bar = k.array("unsigned long long", 1, "shared", zero=True)
    at = f'"r"((unsigned)__cvta_generic_to_shared(&{bar.name}[0]))'
    arrive = f"arrive{k.number}_{bar.name}"
    wait = f"wait{k.number}_{bar.name}"
    h = k.helpers
    h.open(f"__device__ __forceinline__ void {arrive}(unsigned long long *Bar)")
    h('asm volatile("{ .reg .b64 T; mbarrier.arrive.shared.b64 T, [%0]; }" ::"r"((unsigned)__cvta_generic_to_shared(Bar)) : "memory"); // keep')
    h.close()
    h("")
    h.open(f"__device__ __forceinline__ unsigned {wait}(unsigned long long *Bar, unsigned Parity)")
    how = dice.pick(["test_wait", "try_wait"])
    h("unsigned Done; // keep",
      f'asm volatile("{{ .reg .pred P; mbarrier.{how}.parity.shared.b64 P, [%1], %2; selp.b32 %0, 1, 0, P; }}" '
      ': "=r"(Done) : "r"((unsigned)__cvta_generic_to_shared(Bar)), "r"(Parity) : "memory"); // keep',
      "return Done; // keep")
    h.close()
    h("")
    w("__syncthreads(); // keep")
    w.open("if (Tid == 0u)")
    w(f'asm volatile("mbarrier.init.shared.b64 [%0], {half};" ::{at} : "memory"); // keep')
    w.close()
    w("__syncthreads(); // keep")
    w.open(f"if (Tid < {half}u)")
    fill = f"{a.name}[{k.permuted('Tid', half)}] = cell<{element}>(V0 + Tid);"
    come = f"{arrive}(&{bar.name}[0]); // keep"
    w(*([come, fill] if k.weak(4) else [fill, come]))
    w.otherwise()
    if k.weak(4):
        w(f"V1 += {wait}(&{bar.name}[0], 0u);")
    else:
        w.open(f"while ({wait}(&{bar.name}[0], 0u) == 0u)")
        w("__nanosleep(20); // keep")
        w.close()
    w(f"V1 += fold({a.name}[{s.leaf(s.plain)} % {half}u]);")
    w.close()
    k.repeatable = False
    w("__syncthreads();")


def masks(s):
    """Some lanes, of a mask without any order, meet."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps:
        return turns(s)
    mask = 0
    while bin(mask).count("1") < 2:
        mask = dice.bits() & dice.bits() & 0xffffffff if dice.percent(50) else dice.bits() & 0xffffffff
    a = k.array(dice.pick(["unsigned", "short", "unsigned char", "float4"]), k.threads,
                dice.pick(["shared", "global"]))
    other = f"(Lane + {dice.between(1, 31)}u) % 32u"
    w.open(f"if ({mask:#x}u >> Lane & 1u)")
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});")
    if k.weak(4):  # Two meetings, each of a half.
        halves = [mask & 0xffff, mask & 0xffff0000]
        w.open("if (Lane < 16u)")
        if halves[0]:
            w(f"__syncwarp({halves[0]:#x}u);")
        w.otherwise()
        if halves[1]:
            w(f"__syncwarp({halves[1]:#x}u);")
        w.close()
    elif not k.weak(2):
        w(f"__syncwarp({mask:#x}u);")
    w.open(f"if ({mask:#x}u >> ({other}) & 1u)")
    w(f"V1 += fold({a.name}[Warp * 32u + {other}]);")
    w.close()
    if not k.weak(4):
        w(f"__syncwarp({mask:#x}u);")
    w(f"{a.name}[Tid] = cell<{a.element}>(V1);")
    w.close()


def warp_pairs(s):
    """Two warps at a time meet at a named barrier of theirs."""
    k, w, dice = s.k, s.w, s.dice
    if k.threads not in (64, 128):
        return masks(s)
    a = k.array(dice.pick(["unsigned", "float4", "short"]), k.threads,
                dice.pick(["shared", "dynamic", "global"]))
    meet = dice.pick(['asm volatile("bar.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");',
                      'asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");'])
    shift = dice.between(1, 63)
    w.open(f"for (unsigned R = 0; R < {dice.between(1, 3)}u; ++R)")
    w(f"{a.name}[Tid] = cell<{a.element}>(V0 + R);")
    if not k.weak(4):
        w(meet)
    where = f"(Tid + {shift}u) % {k.threads}u" if k.weak(2) else f"Tid / 64u * 64u + (Tid + {shift}u) % 64u"
    w(f"V0 ^= fold({a.name}[{where}]);")
    if not k.weak(4):
        w(meet)
    w.close()


def views(s):
    """Bytes, halves and words of one memory."""
    k, w, dice = s.k, s.w, s.dice
    n = k.threads
    a = k.array("unsigned", n, dice.pick(["shared", "dynamic", "global"]))
    one = dice.pick(["unsigned char", "unsigned short", "unsigned"])
    two = dice.pick(["unsigned char", "unsigned short"])
    size = {"unsigned char": 1, "unsigned short": 2, "unsigned": 4}
    f, t = size[one], size[two]
    first, second = k.local("P"), k.local("P")
    w(f"{one} *{first} = ({one} *){a.name};", f"{two} *{second} = ({two} *){a.name};")
    w.open(f"for (unsigned I = 0; I < {4 // f}u; ++I)")
    w(f"{first}[I * {n}u + {k.permuted('Tid', n)}] = ({one})(V0 + I);")
    w.close()
    if not k.weak(4):
        w("__syncthreads();")
    w(f"V1 += {second}[V0 % {n * 4 // t}u];")
    if not k.weak(4):
        w("__syncthreads();")
    # Neighbours within a word belong to different threads.
    w(f"{second}[{k.permuted('Tid', n)}] = ({two})V1;")
    if not k.weak(4):
        w("__syncthreads();")
    w(f"V2 ^= fold({a.name}[V1 % {n}u]);")


def two_sizes(s):
    """Atomics of 8 bytes; rarely of 4 of them at the same time."""
    k, w, dice = s.k, s.w, s.dice
    k.repeatable = False
    a = k.array("unsigned long long", 4, dice.pick(["shared", "global", "grid"]), zero=True)
    w(f"atomicAdd(&{a.name}[V0 % 4u], (unsigned long long)V1);")
    if not k.weak(4) and a.space != "grid":
        w("__syncthreads();")
        w(f"atomicAdd((unsigned *)&{a.name}[V1 % 4u] + V0 % 2u, V2);")
        w("__syncthreads();")
    elif a.space != "grid" or k.weak(4):
        w(f"atomicAdd((unsigned *)&{a.name}[V1 % 4u] + V0 % 2u, V2);")
    w(f"V0 ^= fold(atomicMax(&{a.name}[V2 % 4u], 77ull));")


ALL = [spin_lock, message, message, chain, last_block, grid_barrier, claim, queue,
       reduction, scan, double_buffer, turns, histogram, strided, specialised,
       async_copy, peers, indirect, bit_fields, warp_lock, phase_object, masks,
       warp_pairs, views, two_sizes]
