# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of a cluster, in each other's shared memory."""
from copies import async_copy


def other_block(s, a):
    """A pointer to the array of another block of the cluster."""
    k, w = s.k, s.w
    p = k.local("Other")
    w(f"{a.element} *{p} = remote({a.name}, (clusterRank() + 1u) % {k.cluster}u); // keep")
    return p


def meet(s, factor):
    """All blocks of the cluster; or, weakly, one."""
    s.w("__syncthreads();" if s.k.weak(factor) else "clusterSync();")


def exchange(s):
    """Each block writes its own shared memory and reads another's; or the other way."""
    k, w, dice = s.k, s.w, s.dice
    if k.cluster == 1:
        return async_copy(s)
    a = k.array(dice.pick(["unsigned", "float4", "short", "unsigned char", "Cell"]), k.threads,
                dice.pick(["shared", "shared", "dynamic"]))
    p, r = other_block(s, a), k.local("R")
    writes = dice.percent(40)
    target, source = (p, a.name) if writes else (a.name, p)
    w("clusterSync(); // keep")
    w.open(f"for (unsigned {r} = 0; {r} < {dice.between(1, 3)}u; ++{r})")
    w(f"{target}[{k.permuted('Tid', k.threads)}] = cell<{a.element}>(V0 + {r});")
    meet(s, 3)
    w(f"V0 += fold({source}[(Tid + {dice.between(0, 40)}u) % {k.threads}u]);")
    meet(s, 3)
    w.close()
    # No block ends while another is in its memory.
    w("clusterSync(); // keep")


def remote_adds(s):
    """Each block counts in another's shared memory."""
    k, w, dice = s.k, s.w, s.dice
    if k.cluster == 1:
        return async_copy(s)
    bins = dice.pick([4, 16, 32])
    a = k.array("unsigned", bins, "shared", zero=True)
    p = other_block(s, a)
    w("clusterSync(); // keep")
    index = f"({s.leaf(s.plain)} + Lane) % {bins}u"
    if k.weak(3):
        w(f"{p}[{index}] += 1u;")
    else:
        w(f"atomicAdd(&{p}[{index}], 1u);")
    meet(s, 3)
    w(f"V1 += fold({a.name}[(Tid + {dice.between(0, 40)}u) % {bins}u]);")
    w("clusterSync(); // keep")
