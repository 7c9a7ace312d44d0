# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asynchronous copies into shared memory, which are waited for."""

COMMIT = 'asm volatile("cp.async.commit_group;" ::: "memory");'


def copy_helper(s):
    """A function that starts a copy of a float4 into shared memory."""
    f, h = s.k.name("copy"), s.k.helpers
    h.open(f"__device__ __forceinline__ void {f}(void *To, const void *From)")
    h('asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(To)), "l"(From) : "memory");')
    h.close()
    h("")
    return f


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
