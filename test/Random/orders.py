# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways in which CUDA code hands data from thread to thread through a flag.

Each dialect writes the same five things: store a flag (release), load it
(acquire), add to it (both), try a lock, and unlock.
"""

NV_SCOPE = {"cta": "BLOCK", "gpu": "DEVICE", "sys": "SYSTEM"}
REF_SCOPE = {"cta": "block", "gpu": "device", "sys": "system"}
FENCE = {"cta": "__threadfence_block();", "gpu": "__threadfence();",
         "sys": "__threadfence_system();"}
SUFFIX = {"cta": "_block", "gpu": "", "sys": "_system"}


class Dialect:
    def __init__(self, kernel, scope):
        self.k, self.scope = kernel, scope

    def after_load(self, w):
        """Once the load has shown what was waited for."""

    def order(self, strong):
        return "relaxed" if self.k.weak(3) else strong


class Fences(Dialect):
    """__threadfence*() beside relaxed atomics or volatile accesses."""

    def __init__(self, kernel, scope):
        super().__init__(kernel, scope)
        self.is_volatile = kernel.dice.percent(40)
        self.flavour = kernel.dice.below(3)

    def fence(self, w):
        if self.k.weak(3):
            return
        w([FENCE[self.scope],
           f"__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_{NV_SCOPE[self.scope]});",
           f'asm volatile("fence.acq_rel.{self.scope};" ::: "memory");'][self.flavour])

    def store(self, w, address, value):
        self.fence(w)
        if self.is_volatile:
            w(f"*(volatile unsigned *)({address}) = {value};")
        else:
            w(f"atomicExch{SUFFIX[self.scope]}({address}, {value});")

    def load(self, w, name, address):
        if self.is_volatile:
            w(f"unsigned {name} = *(volatile unsigned *)({address});")
        else:
            w(f"unsigned {name} = atomicAdd{SUFFIX[self.scope]}({address}, 0u);")

    def after_load(self, w):
        self.fence(w)

    def add(self, w, name, address, value):
        self.fence(w)
        w(f"unsigned {name} = atomicAdd{SUFFIX[self.scope]}({address}, {value});")
        self.fence(w)

    def try_lock(self, w, name, address):
        w(f"bool {name} = atomicCAS{SUFFIX[self.scope]}({address}, 0u, 1u) == 0u;")
        w.open(f"if ({name})")
        self.fence(w)
        w.close()

    def unlock(self, w, address):
        self.store(w, address, "0u")


class Builtins(Dialect):
    """__nv_atomic_*, which are built into nvcc, and into clang by our header."""

    def call(self, what, arguments, strong):
        order = self.order(strong).upper()
        return (f"__nv_atomic_{what}({arguments}, __NV_ATOMIC_{order}, "
                f"__NV_THREAD_SCOPE_{NV_SCOPE[self.scope]})")

    def store(self, w, address, value):
        w(self.call("store_n", f"{address}, {value}", "release") + ";")

    def load(self, w, name, address):
        w(f"unsigned {name} = {self.call('load_n', address, 'acquire')};")

    def add(self, w, name, address, value):
        w(f"unsigned {name} = {self.call('fetch_add', f'{address}, {value}', 'acq_rel')};")

    def try_lock(self, w, name, address):
        w(f"bool {name} = {self.call('exchange_n', f'{address}, 1u', 'acquire')} == 0u;")

    def unlock(self, w, address):
        self.store(w, address, "0u")


class Assembly(Dialect):
    """Inline PTX, as in hand-tuned libraries."""

    def store(self, w, address, value):
        order = self.order("release")
        # The flag is 0 before any other value.
        if value.isalnum() and value != "0u" and self.k.dice.percent(30):
            w(f'asm volatile("red.{order}.{self.scope}.or.b32 [%0], %1;" ::"l"({address}), "r"({value}) : "memory");')
            return
        w(f'asm volatile("st.{order}.{self.scope}.u32 [%0], %1;" ::"l"({address}), "r"({value}) : "memory");')

    def load(self, w, name, address):
        order = self.order("acquire")
        w(f"unsigned {name}; // keep",
          f'asm volatile("ld.{order}.{self.scope}.u32 %0, [%1];" : "=r"({name}) : "l"({address}) : "memory"); // keep')

    def add(self, w, name, address, value):
        order = self.order("acq_rel")
        w(f"unsigned {name}; // keep",
          f'asm volatile("atom.{order}.{self.scope}.add.u32 %0, [%1], %2;" : "=r"({name}) : "l"({address}), "r"({value}) : "memory"); // keep')

    def try_lock(self, w, name, address):
        order = self.order("acquire")
        old = self.k.local("Old")
        w(f"unsigned {old}; // keep",
          f'asm volatile("atom.{order}.{self.scope}.cas.b32 %0, [%1], 0, 1;" : "=r"({old}) : "l"({address}) : "memory"); // keep',
          f"bool {name} = {old} == 0u;")

    def unlock(self, w, address):
        self.store(w, address, "0u")


class References(Dialect):
    """cuda::atomic_ref of libcu++."""

    def ref(self, address):
        self.k.needs_ref = True
        return (f"cuda::atomic_ref<unsigned, cuda::thread_scope_{REF_SCOPE[self.scope]}>"
                f"(*({address}))")

    def memory(self, strong):
        return f"cuda::memory_order_{self.order(strong)}"

    def store(self, w, address, value):
        w(f"{self.ref(address)}.store({value}, {self.memory('release')});")

    def load(self, w, name, address):
        w(f"unsigned {name} = {self.ref(address)}.load({self.memory('acquire')});")

    def add(self, w, name, address, value):
        w(f"unsigned {name} = {self.ref(address)}.fetch_add({value}, {self.memory('acq_rel')});")

    def try_lock(self, w, name, address):
        w(f"bool {name} = {self.ref(address)}.exchange(1u, {self.memory('acquire')}) == 0u;")

    def unlock(self, w, address):
        self.store(w, address, "0u")


def choose(kernel, scope, is_wide):
    """A dialect whose scope holds all threads concerned, unless the kernel asks
    for weakness. `is_wide`: threads of several blocks."""
    dice = kernel.dice
    if is_wide:
        scope = "cta" if kernel.weak(2) else dice.pick([scope, scope, "sys"])
    else:
        scope = dice.pick(["cta", "cta", "gpu", "sys"])
    kinds = [(4, Fences), (3, Builtins), (3, Assembly)]
    if kernel.may_use_libcudacxx:
        kinds.append((3, References))
    return dice.weighted(kinds)(kernel, scope)
