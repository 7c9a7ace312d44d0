# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every way in which all threads of a block can meet, and what lanes may do apart from
each other just before.

The aligned forms promise that a warp arrives together; the others (cooperative groups'
barrier is one) let each lane arrive when it does.
"""

ALIGNED = [(9, "__syncthreads();"), (1, "V3 += __syncthreads_count(V0 % 2u);"),
           (1, "V3 ^= __syncthreads_or(V0 % 64u == 3u);"),
           (1, "V3 += __syncthreads_and(V0 % 8u != 3u);")]
UNALIGNED = [(4, "cg::sync(cg::this_thread_block());"), (2, "cg::this_thread_block().sync();"),
             (2, 'asm volatile("barrier.sync 0;" ::: "memory");'),
             (1, "V3 += meetCount(V0 % 2u);"), (1, "V3 ^= meetAny(V0 % 64u == 3u);")]
# Not where threads have left: named barriers and counts are of a fixed number.
NUMBERED = [(1, 'asm volatile("barrier.sync 1;" ::: "memory");')]
COUNTED = [(1, 'asm volatile("barrier.sync 0, {threads};" ::: "memory");'),
           (1, 'asm volatile("barrier.sync 3, {threads};" ::: "memory");'),
           (1, 'asm volatile("bar.sync 2, {threads};" ::: "memory");'),
           (1, "V3 += meetCounted<{threads}>(V0 % 2u);")]


def choose_taste(dice):
    return dice.weighted([(4, "aligned"), (5, "unaligned"), (3, "mixed")])


def plain_barrier(k):
    """A barrier of all threads of the block, as a statement."""
    forms = []
    if k.taste != "unaligned":
        forms += ALIGNED
    if k.taste != "aligned":
        forms += UNALIGNED
    if not k.someone_left and k.taste != "aligned":
        forms += NUMBERED + (COUNTED if k.threads % 32 == 0 else [])
    text = k.dice.weighted(forms).replace("{threads}", str(k.threads))
    k.needs_groups |= "cg::" in text
    return text


def barrier(k):
    """The same, sometimes in a function."""
    text = plain_barrier(k)
    if "V" in text.split("(")[0] or not k.dice.percent(15):
        return text
    f = k.name("meet")
    how = k.dice.pick(["__noinline__", "__forceinline__"])
    k.helpers.open(f"__device__ {how} void {f}()")
    k.helpers(text)
    k.helpers.close()
    k.helpers("")
    return f"{f}();"


def meet(s, factor):
    """Unless the kernel is weak there."""
    if not s.k.weak(factor):
        s.w(barrier(s.k))


def rolled(s):
    """The compiler shall not unroll the next loop."""
    if s.dice.percent(60):
        s.w("#pragma unroll 1")


def trips(s):
    """A number of rounds, 8 at most, that differs among the lanes of a warp."""
    dice = s.dice
    return dice.pick([f"(Lane * {s.k.odd(31)}u + {dice.below(8)}u) % {dice.between(2, 8)}u",
                      f"V2 % {dice.between(2, 8)}u", f"Tid % {dice.between(2, 7)}u + 1u",
                      f"(Lane < {dice.between(1, 31)}u ? {dice.between(1, 7)}u : {dice.below(3)}u)",
                      f"In[Gid % 512u + {dice.below(500)}u] % 6u"])


def tree(s):
    """Halves of an array are added up, by loops that lanes leave at different times."""
    k, w, dice = s.k, s.w, s.dice
    n = dice.pick([k.threads, 2 * k.threads, 4 * k.threads, k.threads // 2 + dice.below(k.threads),
                   dice.between(20, 300)])
    a = k.array(dice.pick(["unsigned", "unsigned", "float", "int", "unsigned long long", "uint2"]),
                n, dice.pick(["shared", "shared", "dynamic", "global"]))
    rows = dice.between(1, 3)
    row, i, m = k.local("Row"), k.local("I"), k.local("N")
    rolled(s)
    w.open(f"for (unsigned {row} = 0; {row} < {rows}u; ++{row})")
    rolled(s)
    w.open(f"for (unsigned {i} = Tid; {i} < {n}u; {i} += {k.threads}u)")
    w("unsigned Sum = 0;")
    rolled(s)
    w.open(f"for (unsigned P = {i}; P < {dice.between(100, 900)}u; P += {dice.between(60, 400)}u)")
    w(f"Sum += In[P + {row}];")
    w.close()
    w(f"{a.name}[{i}] = cell<{a.element}>(Sum);")
    w.close()
    rolled(s)
    w.open(f"for (unsigned {m} = {n}u; {m} > 1u; {m} = ({m} + 1u) / 2u)")
    meet(s, 3)
    w(f"const unsigned Half = ({m} + 1u) / 2u;")
    rolled(s)
    w.open(f"for (unsigned {i} = Tid; {i} < {m} - Half; {i} += {k.threads}u)")
    w(f"{a.name}[{i}] = cell<{a.element}>(fold({a.name}[{i}]) + fold({a.name}[{i} + Half]));")
    w.close()
    w.close()
    meet(s, 3)
    w(f"V0 += fold({a.name}[0]);")
    meet(s, 3)
    w.close()


def ragged(s):
    """Lanes read for different lengths of time, meet, and write."""
    k, w, dice = s.k, s.w, s.dice
    t = k.threads
    a = k.array(dice.pick(["unsigned", "short", "float4", "unsigned char", "Cell"]), t,
                dice.pick(["shared", "shared", "global", "dynamic"]))
    r, i, n = k.local("R"), k.local("I"), k.local("N")
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});")
    meet(s, 3)
    rolled(s)
    w.open(f"for (unsigned {r} = 0; {r} < {dice.between(1, 4)}u; ++{r})")
    w(f"const unsigned {n} = {trips(s)};")
    rolled(s)
    w.open(f"for (unsigned {i} = 0; {i} < {n}; ++{i})")
    w(f"V0 = V0 * 5u + fold({a.name}[(Tid * {k.odd(9)}u + {i} + {r}) % {t}u]);")
    if dice.percent(30):
        w.open(f"if ({s.condition(s.plain)})")
        w(f"{dice.pick(['continue', 'break'])};")
        w.close()
    w.close()
    meet(s, 3)
    w(f"{a.name}[{k.permuted('Tid', t)}] = cell<{a.element}>(V0 + {n});")
    meet(s, 3)
    w.close()
    w(f"V1 ^= fold({a.name}[V2 % {t}u]);")


def fork(s):
    """Branches or cases that each write the thread's own cell, straight before a barrier."""
    k, w, dice = s.k, s.w, s.dice
    t = k.threads
    a = k.array(dice.pick(["unsigned", "short", "uint2", "unsigned long long"]), t,
                dice.pick(["shared", "shared", "global"]))
    own = f"{a.name}[{k.permuted('Tid', t)}]"
    r = k.local("R")
    rolled(s)
    w.open(f"for (unsigned {r} = 0; {r} < {dice.between(1, 3)}u; ++{r})")
    if dice.percent(50):
        w.open(f"if ({s.condition(s.plain)})")
        w(f"{own} = cell<{a.element}>({s.value(s.plain)});")
        if dice.percent(60):
            w.otherwise()
            w(f"V1 += {s.value(s.plain)};", f"{own} = cell<{a.element}>(V1 + {r});")
        w.close()
    else:
        w.open(f"switch (({dice.pick(['Lane', 'V2', 'Tid'])} + {r}) % 4u)")
        for case in range(3):
            w.open(f"case {case}u:")
            w(f"{own} = cell<{a.element}>({s.value(s.plain)});")
            if dice.percent(70):
                w("break;")
            w.close()
        w.open("default:")
        w(f"V1 ^= fold({own});")
        w.close()
        w.close()
    meet(s, 3)
    w(f"V0 += fold({a.name}[(Tid + {dice.between(1, t - 1)}u) % {t}u]);")
    meet(s, 3)
    w.close()


def two_doors(s):
    """Lanes of one warp arrive at one barrier by two instructions."""
    k, w, dice = s.k, s.w, s.dice
    t = k.threads
    a = k.array(dice.pick(["unsigned", "short", "float4"]), t, dice.pick(["shared", "global"]))
    door = 'asm volatile("barrier.sync 0;" ::: "memory");'
    guard = s.condition(s.plain)
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});")
    w.open(f"if ({guard})")
    w(f"V1 += {s.leaf(s.plain)};")
    if not k.weak(3):
        w(f"{door} // keep")
        w(f"V0 += fold({a.name}[(Tid + {dice.between(1, t - 1)}u) % {t}u]);")
        w.otherwise()
        w(f"{door} // keep")
        w(f"V0 ^= fold({a.name}[(Tid + {dice.between(1, t - 1)}u) % {t}u]);")
    else:
        w(f"V0 += fold({a.name}[(Tid + {dice.between(1, t - 1)}u) % {t}u]);")
    w.close()
    meet(s, 3)
    w(f"{a.name}[Tid] = cell<{a.element}>(V0);")


def called(s):
    """A function in which lanes part, meet at a barrier, and part again."""
    k, w, dice = s.k, s.w, s.dice
    t = k.threads
    element = dice.pick(["unsigned", "short", "float", "unsigned long long"])
    a = k.array(element, t, dice.pick(["shared", "global", "dynamic"]))
    f, h = k.name("f"), k.helpers
    # In the function, V0 and V3 are its own.
    h.open(f"__device__ {dice.pick(['__noinline__', '__noinline__', '__forceinline__'])} "
           f"unsigned {f}({element} *P, unsigned Tid, unsigned V0)")
    h("unsigned V3 = V0;")
    if dice.percent(60):
        h("#pragma unroll 1")
    h.open(f"for (unsigned I = 0; I < (Tid * {k.odd(9)}u + V0) % {dice.between(2, 6)}u; ++I)")
    h("V3 = V3 * 3u + I;")
    h.close()
    h(f"P[{k.permuted('Tid', t)}] = cell<{element}>(V3);")
    if not k.weak(4):
        h(plain_barrier(k))
    h(f"V3 ^= fold(P[(Tid + {dice.between(1, t - 1)}u) % {t}u]);")
    if not k.weak(4):
        h(plain_barrier(k))
    h.open(f"if (V0 % {dice.between(2, 4)}u == 0u)")
    h("return V3;")
    h.close()
    h(f"return V3 * {k.odd(99)}u;")
    h.close()
    h("")
    w.open(f"for (unsigned R = 0; R < {dice.between(1, 3)}u; ++R)")
    w(f"V0 += {f}({a.name}, Tid, V0);")
    w.close()


def spin(s):
    """Warps wait for a count in memory, for as long as it takes."""
    k, w, dice = s.k, s.w, s.dice
    space = dice.pick(["shared", "global"])
    a = k.array(dice.pick(["unsigned", "short", "float4"]), k.threads, space)
    count = k.array("unsigned", 1, space, zero=True)
    fence = "__threadfence_block();"
    # A wait without an end is not for kernels that may have lost a step of it.
    is_weak = k.weak(3)
    if space == "shared":
        w("__syncthreads(); // keep")  # The count is zero from here on.
    w(f"{a.name}[Tid] = cell<{a.element}>({s.value(s.plain)});")
    if not is_weak:
        w(f"{fence} // keep")
    w(f"atomicAdd(&{count.name}[0], 1u); // keep")
    w.open(f"while (*(volatile unsigned *)&{count.name}[0] < {k.threads}u)")
    if dice.percent(50):
        w("__nanosleep(20); // keep")
    w.close()
    if not is_weak:
        w(f"{fence} // keep")
    w(f"V0 += fold({a.name}[(Tid + {dice.between(1, k.threads - 1)}u) % {k.threads}u]);")
