# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of which each thread owns a part, by some rule, for a while."""
from handshakes import queue


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
