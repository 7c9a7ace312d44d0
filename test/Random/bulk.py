# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bulk copies: into shared memory, which end at mbarriers, and out of it, in groups."""

SHARED = "(unsigned)__cvta_generic_to_shared"
INPUTS = 1024  # Words of In.


def load_helper(s):
    """A function that starts a bulk copy into shared memory."""
    f, h = s.k.name("load"), s.k.helpers
    h.open(f"__device__ __forceinline__ void {f}(void *To, const void *From, unsigned Bytes, unsigned long long *Full)")
    h('asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" '
      f'::"r"({SHARED}(To)), "l"(From), "r"(Bytes), "r"({SHARED}(Full)) : "memory"); // keep')
    h.close()
    h("")
    return f


def store_helper(s, adds):
    """A function that starts a bulk copy, or a reduction, out of shared memory."""
    f, h = s.k.name("store"), s.k.helpers
    what = ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32" if adds
            else "cp.async.bulk.global.shared::cta.bulk_group")
    h.open(f"__device__ __forceinline__ void {f}(void *To, const void *From, unsigned Bytes)")
    h(f'asm volatile("{what} [%0], [%1], %2;" ::"l"(To), "r"({SHARED}(From)), "r"(Bytes) : "memory");',
      'asm volatile("cp.async.bulk.commit_group;" ::: "memory");')
    h.close()
    h("")
    return f


def bulk_load(s):
    """A thread brings parts of the input some stages ahead; all wait for each."""
    k, w, dice = s.k, s.w, s.dice
    stages, rounds = dice.between(1, 3), dice.between(2, 5)
    n = dice.pick([8, 16, 32])  # Elements of a stage.
    a = k.array("float4", n * stages, "shared")
    full = k.array("unsigned long long", stages, "shared", zero=True)
    f, r, shift = load_helper(s), k.local("Round"), dice.below(100)
    places = (INPUTS - 4 * n) // 4

    def begin(turn):
        stage = f"({turn}) % {stages}u"
        w("fenceCopies();",
          f"expectBytes(&{full.name}[{stage}], {16 * n}u); // keep",
          f"{f}(&{a.name}[{stage} * {n}u], &In[(({turn}) * {n}u + {shift}u) % {places}u * 4u], {16 * n}u, &{full.name}[{stage}]); // keep")

    def wait():
        w(f"waitPhase(&{full.name}[{r} % {stages}u], {r} / {stages}u % 2u); // keep")

    w("__syncthreads(); // keep")
    w.open("if (Tid == 0u)")
    for stage in range(stages):
        w(f"initPhases(&{full.name}[{stage}], 1u); // keep")
    for turn in range(stages - 1):
        begin(f"{turn}u")
    w.close()
    w("__syncthreads(); // keep")
    w.open(f"for (unsigned {r} = 0; {r} < {max(rounds, stages)}u; ++{r})")
    w.open(f"if (Tid == 0u && {r} + {stages - 1}u < {max(rounds, stages)}u)")
    begin(f"{r} + {stages - 1}u")
    w.close()
    # The next copy begins when all have read, or, weakly, when all are about to. Whoever
    # waits late must do so in front of the barrier: a later phase has the same parity.
    early = k.weak(2)
    late = not early and k.weak(2)
    if not late:
        wait()
    if early:
        w("__syncthreads(); // keep")
    w(f"V0 += fold({a.name}[{r} % {stages}u * {n}u + (Tid + {dice.between(0, 40)}u) % {n}u]);")
    if late:
        wait()
    if not early:
        w("__syncthreads(); // keep")
    w.close()
    w("__syncthreads();")


def bulk_store(s):
    """The block makes rows, which a thread stores or adds to a row of the grid's."""
    k, w, dice = s.k, s.w, s.dice
    n, rounds, adds = dice.pick([16, 32, 64]), dice.between(1, 4), dice.percent(35)
    reads = not adds and dice.percent(50)
    tile = k.array("float4", n // 4, "shared")  # For its alignment.
    out = (k.array("unsigned", n, "grid", zero=True) if adds
           else k.array("unsigned", n * rounds, "global"))
    f, r, p = store_helper(s, adds), k.local("Round"), k.local("P")
    row = f"&{out.name}[0]" if adds else f"&{out.name}[{r} * {n}u]"
    w(f"unsigned *{p} = (unsigned *){tile.name}; // keep", "__syncthreads();")
    w.open(f"for (unsigned {r} = 0; {r} < {rounds}u; ++{r})")
    w.open(f"for (unsigned I = Tid; I < {n}u; I += {k.threads}u)")
    w(f"{p}[I] = V0 * {k.odd(99)}u + I + {r};")
    w.close()
    if not k.weak(3):
        w("fenceCopies();")
    if not k.weak(3):
        w("__syncthreads();")
    w.open("if (Tid == 0u)")
    w(f"{f}({row}, {p}, {4 * n}u);")
    if not k.weak(4):
        read_only = k.weak(4) if reads else dice.percent(60)
        w(f'asm volatile("cp.async.bulk.wait_group{".read" if read_only else ""} 0;" ::: "memory");')
    w.close()
    if not k.weak(3):
        w("__syncthreads();")
    if reads:
        w(f"V1 += {out.name}[{r} * {n}u + (Tid + {dice.between(0, 40)}u) % {n}u];")
    w.close()
    w.open("if (Tid == 0u)")
    w('asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); // keep')
    w.close()
    w("__syncthreads();")
