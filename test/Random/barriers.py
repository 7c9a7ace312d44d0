# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Patterns whose steps are parted by barriers: of a block, of a warp, named, in memory."""
from handshakes import lane_message


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
    w("__syncthreads();")
