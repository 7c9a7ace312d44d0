# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random statements between two barriers, each of which keeps to the rights."""
from dataclasses import dataclass, replace

import rights
from kernel import INPUTS, SCALARS

LOCALS = ["V0", "V1", "V2", "V3"]
UNARY = ["(unsigned)__popc({})", "__brev({})", "~{}", "({} >> 7)", "(unsigned)__clz({})",
         "({} << 3)", "__byte_perm({}, V0, 0x1203)"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} ^ {}", "({} & {})", "({} | {})",
          "min({}, {})", "max({}, {})", "__umulhi({}, {})"]


@dataclass(frozen=True)
class Context:
    rights: tuple          # (Array, right) pairs
    together: str = "warp"  # Which threads are certainly here: warp or nobody
    names: tuple = ()      # Loop variables and the like
    depth: int = 0

    def having(self, kind):
        return [(a, r) for a, r in self.rights if isinstance(r, kind)]

    def writable(self):
        return [(a, r) for a, r in self.rights if r and r.can_write]

    def readable(self):
        return [(a, r) for a, r in self.rights if hasattr(r, "read")]

    def with_right(self, array, right):
        return replace(self, rights=tuple(
            (a, right if a is array else r) for a, r in self.rights))

    def inside(self, together=None, names=()):
        return replace(self, depth=self.depth + 1, together=together or self.together,
                       names=self.names + tuple(names))


class Statements:
    def __init__(self, kernel):
        self.k, self.dice, self.w = kernel, kernel.dice, kernel.body

    # ----- expressions: locals and In, and few accesses that may race -----

    def leaf(self, c):
        k, dice = self.k, self.dice
        return dice.weighted([
            (8, lambda: dice.pick(LOCALS)),
            (3, lambda: dice.pick(["Tid", "Lane", "Gid", "Block", "Warp"])),
            (3, lambda: dice.pick(c.names) if c.names else dice.pick(LOCALS)),
            (3, lambda: f"{dice.below(dice.pick([8, 64, 5000]))}u"),
            (2, lambda: f"In[({dice.pick(LOCALS)} + {dice.below(INPUTS)}u) % {INPUTS}u]"),
        ])()

    def varying(self, c):
        return self.dice.pick([*LOCALS, *c.names, "Tid", "Gid"])

    def value(self, c, depth=2):
        dice = self.dice
        if depth == 0 or dice.percent(30):
            return self.leaf(c)
        if dice.percent(20):
            return dice.pick(UNARY).format(self.value(c, depth - 1))
        return "(" + dice.pick(BINARY).format(self.value(c, depth - 1),
                                              self.value(c, depth - 1)) + ")"

    def small(self, c):
        """Something to choose an element by."""
        return self.dice.pick([self.leaf(c), f"{self.leaf(c)} + {self.leaf(c)}",
                               f"({self.leaf(c)} >> {self.dice.below(9)})"])

    def load(self, c):
        """A plain read of an array, as an expression; None if there is none."""
        choices = c.readable()
        if not choices:
            return None
        a, r = self.dice.pick(choices)
        return f"fold({a.name}[{r.read(self.small(c))}])"

    def condition(self, c):
        """Differs among the threads, as a rule."""
        dice = self.dice
        n = dice.between(2, 7)
        plain = dice.pick([
            f"{self.varying(c)} % {n}u {dice.pick(['==', '!=', '<', '>'])} {dice.below(n - 1) + 1}u",
            f"{self.varying(c)} * 3u < {self.leaf(c)}", f"Lane < {dice.between(1, 31)}u",
            f"({self.varying(c)} & {1 << dice.below(5)}u) != 0u"])
        load = self.load(c) if dice.percent(25) else None
        if not load:
            return plain
        return f"({plain}) {dice.pick(['&&', '||'])} {load} % {n}u == {dice.below(n)}u"

    def uniform(self):
        """The same in all threads of the block, and free of races."""
        dice = self.dice
        return dice.pick([f"In[Block * 7u + {dice.below(INPUTS - 64)}u] % 3u != 0u",
                          f"Block % 2u == {dice.below(2)}u",
                          f"In[{dice.below(INPUTS)}u] % 2u == 0u", "blockDim.x > 1u"])

    # ----- statements -----

    def some(self, c, count):
        for _ in range(count):
            self.statement(c)

    def statement(self, c):
        dice = self.dice
        nests = c.depth < 3
        kinds = [(4, self.compute), (6, self.read), (7, self.write), (3, self.update),
                 (2, self.call), (1, self.fence), (1, self.volatile_own),
                 (2, self.local_array), (2, self.chosen_pointer), (1, self.copy),
                 (1, self.members), (1, self.hinted), (1, self.bytes),
                 (1, self.move), (1, self.fill), (1, self.two_pointers)]
        if c.having(rights.Atomic):
            kinds += [(6, self.atomic)]
        if nests:
            kinds += [(4, self.branch), (3, self.loop), (2, self.search),
                      (1, self.switch), (1, self.quiet_loop)]
            if c.having((rights.Chosen, rights.Leader)):
                kinds += [(7, self.guarded)]
            if c.having(rights.Parity):
                kinds += [(4, self.guarded_read)]
        if c.together == "warp" and self.k.whole_warps:
            kinds += [(3, self.collective), (1, self.groups)]
            if c.having(rights.Warps):
                kinds += [(7, self.trade)]
        kind = dice.weighted(kinds)
        self.k.writes(kind.__name__, kind, c)

    def compute(self, c):
        self.w(f"{self.dice.pick(LOCALS)} {self.dice.pick(['=', '+=', '^=', '-='])} {self.value(c)};")

    def read(self, c):
        load = self.load(c)
        if not load:
            return self.compute(c)
        v = self.dice.pick(LOCALS)
        self.w(self.dice.pick([
            f"{v} += {load};", f"{v} = {v} * 5u + {load};", f"{v} ^= {load};",
            f"{v} = {self.condition(c)} ? {load} : {self.leaf(c)};"]))

    def target(self, c, elements=None):
        choices = [(a, r) for a, r in c.writable() if not elements or a.element in elements]
        return self.dice.pick(choices) if choices else (None, None)

    def write(self, c):
        a, r = self.target(c)
        if not a:
            return self.read(c)
        self.w(f"{a.name}[{r.cell(self.small(c))}] = cell<{a.element}>({self.value(c)});")

    def update(self, c):
        a, r = self.target(c)
        if not a:
            return self.compute(c)
        at = r.cell(self.small(c))
        if a.element in SCALARS and self.dice.percent(60):
            self.w(f"{a.name}[{at}] {self.dice.pick(['+=', '^=', '-='])} {self.leaf(c)};")
        else:
            self.w(f"{a.name}[{at}] = cell<{a.element}>(fold({a.name}[{at}]) + {self.value(c)});")

    def fence(self, c):
        self.w(self.dice.pick([
            "__threadfence_block();", "__threadfence();", "__threadfence_system();",
            "__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);",
            'asm volatile("fence.acq_rel.gpu;" ::: "memory");']))

    def volatile_own(self, c):
        a, r = self.target(c, SCALARS)
        if not a:
            return self.fence(c)
        at = r.cell(self.small(c))
        if self.dice.percent(50):
            self.w(f"*(volatile {a.element} *)&{a.name}[{at}] = cell<{a.element}>({self.leaf(c)});")
        else:
            self.w(f"V1 += fold(*(volatile {a.element} *)&{a.name}[{at}]);")

    def hinted(self, c):
        a, r = self.target(c, ["unsigned", "int", "unsigned long long", "float4", "uint2"])
        if not a or a.space in ("shared", "dynamic"):
            return self.compute(c)  # Cache hints are for global memory.
        at = r.cell(self.small(c))
        hint = self.dice.pick(["cg", "cs"])
        if self.dice.percent(50):
            self.w(f"__st{hint}(&{a.name}[{at}], cell<{a.element}>({self.leaf(c)}));")
        else:
            self.w(f"V3 -= fold(__ld{hint}(&{a.name}[{at}]));")

    def copy(self, c):
        """Whole elements, as memory."""
        a, r = self.target(c)
        if not a:
            return self.compute(c)
        n = self.k.local("C")
        at = r.cell(self.small(c))
        self.w(f"{a.element} {n} = cell<{a.element}>({self.leaf(c)});")
        if self.dice.percent(50):
            self.w(f"__builtin_memcpy(&{a.name}[{at}], &{n}, sizeof({n}));")
        else:
            self.w(f"__builtin_memcpy(&{n}, &{a.name}[{at}], sizeof({n}));",
                   f"V2 ^= fold({n}) % 4096u;")

    def move(self, c):
        """From an own cell to another, or to itself."""
        a, r = self.target(c)
        if not a:
            return self.compute(c)
        self.w(f"{a.name}[{r.cell(self.small(c))}] = {a.name}[{r.cell(self.small(c))}];")

    def fill(self, c):
        a, r = self.target(c)
        if not a:
            return self.compute(c)
        self.w(f"__builtin_memset(&{a.name}[{r.cell(self.small(c))}], "
               f"{self.dice.below(128)}, sizeof({a.element}));")

    def two_pointers(self, c):
        """Own cells that are sometimes the same one."""
        a, r = self.target(c)
        if not a:
            return self.compute(c)
        k, h, f = self.k, self.k.helpers, self.k.name("f")
        h.open(f"__device__ {self.dice.pick(['__noinline__', '__forceinline__'])} "
               f"unsigned {f}({a.element} *P, {a.element} *Q, unsigned V)")
        h("unsigned Old = fold(*P);", f"*Q = cell<{a.element}>(Old + V);",
          "Old += fold(*P);", f"*P = cell<{a.element}>(Old * {k.odd(9)}u);",
          "return Old - fold(*Q);")
        h.close()
        h("")
        self.w(f"{self.dice.pick(LOCALS)} += {f}(&{a.name}[{r.cell(self.small(c))}], "
               f"&{a.name}[{r.cell(self.small(c))}], {self.leaf(c)});")

    def bytes(self, c):
        """One byte of an element."""
        a, r = self.target(c, ["unsigned", "unsigned long long", "unsigned short"])
        if not a:
            return self.compute(c)
        size = {"unsigned": 4, "unsigned long long": 8, "unsigned short": 2}[a.element]
        at = r.cell(self.small(c))
        byte = f"((unsigned char *)&{a.name}[{at}])[{self.leaf(c)} % {size}u]"
        self.w(self.dice.pick([f"{byte} = (unsigned char)({self.leaf(c)});", f"V0 += {byte};"]))

    def members(self, c):
        a, r = self.target(c, ["Cell", "Wide", "uint2", "float4"])
        if not a:
            return self.update(c)
        cell = f"{a.name}[{r.cell(self.small(c))}]"
        v, leaf = self.dice.pick(LOCALS), self.leaf(c)
        self.w(self.dice.pick({
            "Cell": [f"{cell}.C = (unsigned char)({leaf});", f"{v} += {cell}.B;",
                     f"{cell}.A += {leaf};", f"{v} ^= {cell}.D;"],
            "Wide": [f"{cell}.B[{self.leaf(c)} % 2u] = {leaf};", f"{cell}.A ^= {leaf};",
                     f"{v} += {cell}.B[1];"],
            "uint2": [f"{cell}.y = {leaf};", f"{v} += {cell}.x;"],
            "float4": [f"{cell}.z = (float)({leaf} % 4096u);",
                       f"{v} += __float_as_uint({cell}.x);"]}[a.element]))

    def pointer(self, c, element=None):
        """An own cell of some scalar array as (element, address)."""
        a, r = self.target(c, [element] if element else SCALARS)
        return (a.element, f"&{a.name}[{r.cell(self.small(c))}]") if a else (None, None)

    def call(self, c):
        element, address = self.pointer(c)
        if not element:
            return self.read(c)
        k, h = self.k, self.k.helpers
        f = k.name("f")
        how = self.dice.pick(["__device__ __noinline__", "__device__ __forceinline__",
                              "static __device__"])
        kind = self.dice.below(4)
        if kind == 3:
            h("template <typename T>")
        type_ = "T" if kind == 3 else element
        h.open(f"{how} unsigned {f}({type_} *P, unsigned V)")
        if kind == 0:
            h("return fold(*P) + V;")
        elif kind == 1:
            h(f"*P = cell<{type_}>(V * {k.odd(99)}u);", "return V + 1u;")
        else:
            h("unsigned Old = fold(*P);")
            h.open(f"if (V % {self.dice.between(2, 4)}u != 0u)")
            h(f"*P = cell<{type_}>(Old + V);")
            h.close()
            h("return Old;")
        h.close()
        h("")
        self.w(f"{self.dice.pick(LOCALS)} ^= {f}({address}, {self.value(c, 1)});")

    def chosen_pointer(self, c):
        """One of two objects, which may differ in their state space."""
        element, first = self.pointer(c)
        if not element:
            return self.compute(c)
        p = self.k.local("P")
        if self.dice.percent(30):
            own = self.k.local("L")
            self.w(f"{element} {own} = cell<{element}>({self.leaf(c)});")
            second = f"&{own}"
        else:
            second = self.pointer(c, element)[1]
        self.w(f"{element} *{p} = {self.condition(c)} ? {first} : {second};")
        self.w(self.dice.pick([f"*{p} = cell<{element}>({self.value(c)});", f"*{p} += {self.leaf(c)};",
                               f"V0 += fold(*{p});"]))

    def local_array(self, c):
        n, size = self.k.local("L"), self.dice.pick([2, 4, 8])
        values = ", ".join(self.leaf(c) for _ in range(size))
        self.w(f"unsigned {n}[{size}] = {{{values}}};",
               f"{n}[{self.leaf(c)} % {size}u] += {self.leaf(c)};")
        load = self.load(c)
        if load and self.dice.percent(60):
            self.w(f"{n}[{self.leaf(c)} % {size}u] = {load};")
        self.w(f"{self.dice.pick(LOCALS)} += {n}[{self.leaf(c)} % {size}u];")

    # ----- control flow -----

    def branch(self, c):
        w, inner = self.w, c.inside(together="nobody")
        w.open(f"if ({self.condition(c)})")
        self.some(inner, self.dice.between(1, 2))
        if self.dice.percent(40):
            w.otherwise()
            self.some(inner, self.dice.between(1, 2))
        w.close()

    def loop(self, c):
        """Runs at most four times in each thread, and not equally often in all."""
        i = self.k.local("I")
        bound = self.dice.pick([f"{self.dice.between(2, 4)}u",
                                f"{self.dice.pick(LOCALS)} % 4u", "Tid % 3u + 1u"])
        together = c.together if bound[0].isdigit() else "nobody"
        if bound.startswith("V"):
            # The body may change it.
            b = self.k.local("N")
            self.w(f"const unsigned {b} = {bound};")
            bound = b
        self.w.open(f"for (unsigned {i} = 0; {i} < {bound}; ++{i})")
        if self.dice.percent(20):
            together = "nobody"
            self.w.open(f"if ({self.condition(c.inside(names=[i]))})")
            self.w(f"{self.dice.pick(['continue', 'break'])};")
            self.w.close()
        self.some(c.inside(together, [i]), self.dice.between(1, 3))
        self.w.close()

    def quiet_loop(self, c):
        """A loop over elements whose body is one access."""
        i = self.k.local("I")
        load = self.load(c.inside(names=[i]))
        if not load:
            return self.compute(c)
        self.w.open(f"for (unsigned {i} = 0; {i} < {self.dice.between(2, 6)}u; ++{i})")
        self.w(f"{self.dice.pick(LOCALS)} += {load};")
        self.w.close()

    def search(self, c):
        """Ends by what it reads."""
        i = self.k.local("I")
        load = self.load(c.inside(names=[i]))
        if not load:
            return self.branch(c)
        n = self.dice.between(2, 5)
        test = f"{load} % {n}u {self.dice.pick(['!=', '=='])} {self.dice.below(n)}u"
        self.w(f"unsigned {i} = 0u; // keep")
        if self.dice.percent(50):
            self.w.open(f"while ({i} < 4u && {test})")
            self.w(f"++{i}; // keep")
            self.w.close()
        else:
            self.w.open("do")
            self.some(c.inside("nobody", [i]), 1)
            self.w(f"++{i}; // keep")
            self.w.close(f"}} while ({i} < 3u && {test});")
        self.w(f"V2 += {i};")

    def switch(self, c):
        w = self.w
        w.open(f"switch ({self.leaf(c)} % 4u)")
        for case in range(self.dice.between(2, 3)):
            w.open(f"case {case}u:")
            self.some(c.inside("nobody"), 1)
            w("break;")
            w.close()
        w.open("default:")
        self.some(c.inside("nobody"), 1)
        w.close()
        w.close()

    def guarded(self, c):
        """Under its guard a thread owns what others own at other times."""
        a, r = self.dice.pick(c.having((rights.Chosen, rights.Leader)))
        inner = c.with_right(a, r.owned()).inside("nobody")
        if self.dice.percent(15):
            # The read is in the condition, behind what allows it.
            cell = f"fold({a.name}[{inner_read(inner, a, self.small(c))}])"
            self.w.open(f"if ({r.guard()} && {cell} % 3u != 1u)")
        else:
            self.w.open(f"if ({r.guard()})")
        self.access(inner, a)
        self.some(inner, self.dice.between(0, 2))
        self.w.close()

    def access(self, c, array):
        """Something with this very array, which the thread owns."""
        only = replace(c, rights=tuple((a, r) for a, r in c.rights if a is array))
        self.dice.pick([self.read, self.write, self.update, self.call])(only)

    def guarded_read(self, c):
        """The index tells whether reading is allowed."""
        a, r = self.dice.pick(c.having(rights.Parity))
        i, v = self.k.local("I"), self.dice.pick(LOCALS)
        self.w(f"const unsigned {i} = ({self.small(c)}) % {a.length}u;")
        if self.dice.percent(40):
            self.w(f"{v} += {r.guard(i)} ? fold({a.name}[{i}]) : {self.leaf(c)};")
        else:
            self.w.open(f"if ({r.guard(i)})")
            self.w(f"{v} += fold({a.name}[{i}]);")
            self.w.close()

    # ----- atomics -----

    def scope(self, array):
        """A suffix whose scope holds all who use the array."""
        if array.space != "grid" or self.k.blocks == 1 or self.k.weak(2):
            return self.dice.pick(["", "_block", "_system"])
        return self.dice.pick(["", "", "_system"])

    def atomic(self, c):
        a, r = self.dice.pick(c.having(rights.Atomic))
        at, e = r.cell(self.small(c)), a.element
        cell, v = f"{a.name}[{at}]", self.dice.pick(LOCALS)
        if self.k.weak():
            self.w(self.dice.pick([f"{cell} += cell<{e}>({self.leaf(c)});",
                                   f"{v} += fold({cell});", f"{cell} = cell<{e}>({self.leaf(c)});"]))
            return
        if self.k.is_steady and rights.ATOMICS[e] and e not in ("float", "double"):
            return self.steady_atomic(c, a, cell)
        if e == "unsigned" and self.dice.percent(30):
            return self.ordered_atomic(c, a, cell, v)
        if e in ("unsigned", "int", "unsigned long long") and self.dice.percent(15):
            # Strong accesses of the same size are fellows of atomics.
            self.k.repeatable = False
            self.w(self.dice.pick([
                f"{v} ^= fold(*(volatile {e} *)&{cell});",
                f"*(volatile {e} *)&{cell} = cell<{e}>({self.leaf(c)});"]))
            return
        operand = f"cell<{e}>({self.value(c, 1)})"
        names = rights.ATOMICS[e]
        if not names or (e in SCALARS and self.dice.percent(15)):
            # 16 bits have no forms with a scope.
            suffix = self.scope(a) if e != "unsigned short" else ""
            call = f"atomicCAS{suffix}(&{cell}, cell<{e}>({self.leaf(c)} % 4u), {operand})"
            self.k.repeatable = False
        else:
            name = self.dice.pick(names)
            call = f"{name}{self.scope(a)}(&{cell}, {operand})"
            # Two kinds of update of one array do not commute with each other.
            seen = self.k.updates.setdefault(a.name, set())
            seen.add(name)
            if name not in rights.COMMUTING or len(seen) > 1 or e in ("float", "double"):
                self.k.repeatable = False
        if self.dice.percent(50):
            self.k.repeatable = False
            self.w(f"{v} ^= fold({call});")
        else:
            self.w(call + ";")

    def steady_atomic(self, c, a, cell):
        """One kind of update of each array, whose order does not show."""
        seen = self.k.updates.setdefault(a.name, set())
        if not seen:
            seen.add(self.dice.pick([name for name in rights.ATOMICS[a.element]
                                     if name in rights.COMMUTING]))
        self.w(f"{min(seen)}{self.scope(a)}(&{cell}, cell<{a.element}>({self.value(c, 1)}));")

    def ordered_atomic(self, c, a, cell, v):
        """With a memory order: of __nv_atomic, of PTX."""
        self.k.repeatable = False
        wide = a.space == "grid" and self.k.blocks > 1 and not self.k.weak(2)
        nv = "DEVICE" if wide else self.dice.pick(["BLOCK", "DEVICE", "SYSTEM"])
        ptx = "gpu" if wide else self.dice.pick(["cta", "gpu", "sys"])
        order = self.dice.pick(["RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL"])
        leaf = self.leaf(c)
        self.w(self.dice.pick([
            f"{v} += __nv_atomic_fetch_add(&{cell}, {leaf}, __NV_ATOMIC_{order}, __NV_THREAD_SCOPE_{nv});",
            f"{v} += __nv_atomic_load_n(&{cell}, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_{nv});",
            f"{v} ^= __nv_atomic_exchange_n(&{cell}, {leaf}, __NV_ATOMIC_{order}, __NV_THREAD_SCOPE_{nv});",
            f'asm volatile("red.relaxed.{ptx}.add.u32 [%0], %1;" ::"l"(&{cell}), "r"({leaf}) : "memory");',
            f'asm volatile("st.relaxed.{ptx}.u32 [%0], %1;" ::"l"(&{cell}), "r"({leaf}) : "memory");']))

    # ----- warps -----

    def collective(self, c):
        """All 32 lanes are here, as far as the source says."""
        dice, v = self.dice, self.dice.pick(LOCALS)
        self.w(dice.pick([
            f"{v} += __shfl_xor_sync(~0u, {v}, {dice.between(1, 31)});",
            f"{v} ^= __shfl_down_sync(~0u, {self.value(c, 1)}, {dice.between(1, 15)}, {dice.pick([8, 16, 32])});",
            f"{v} ^= __shfl_up_sync(~0u, {self.leaf(c)}, {dice.between(1, 15)});",
            f"{v} += __shfl_sync(~0u, {self.leaf(c)}, (int)({self.leaf(c)} % 32u));",
            f"{v} += __ballot_sync(~0u, {self.condition(c)});",
            f"{v} += __any_sync(~0u, {self.condition(c)}) ? 3u : 5u;",
            f"{v} += __popc(__match_any_sync(~0u, {self.leaf(c)} % 4u));",
            f"{v} += __reduce_add_sync(~0u, {self.leaf(c)});",
            f"{v} ^= __reduce_max_sync(~0u, {self.leaf(c)});",
            "__syncwarp();"]))

    def groups(self, c):
        """Groups of lanes, each with its own mask, in different branches."""
        width = self.dice.pick([4, 8, 16])
        low = (1 << width) - 1
        v = self.dice.pick(LOCALS)
        self.w.open(f"if (Lane < {width}u)")
        self.some(c.inside("nobody"), 1)
        self.w(self.dice.pick([
            f"{v} += __shfl_xor_sync({low:#x}u, {v}, {width // 2});",
            f"{v} += __reduce_add_sync({low:#x}u, {self.leaf(c)});",
            f"{v} += __ballot_sync({low:#x}u, {self.condition(c)});"]))
        self.w.close()

    def trade(self, c):
        """Lanes write, meet, and read what other lanes wrote."""
        a, right = self.dice.pick(c.having(rights.Warps))
        k, dice, lanes = self.k, self.dice, right.lanes
        mask, lane, base, narrow = "~0u", "Lane", "Warp * 32u", False
        if lanes < 32:
            narrow = dice.percent(50)
            if not narrow:  # All groups, each with its mask.
                mask = f"({(1 << lanes) - 1:#x}u << Lane / {lanes}u * {lanes}u)"
                lane, base = f"(Lane % {lanes}u)", f"(Tid - Lane % {lanes}u)"
            else:
                mask = f"{(1 << lanes) - 1:#x}u"
                self.w.open(f"if (Lane < {lanes}u)")
        meet = f"__syncwarp({mask});"
        own = f"{base} + {k.permuted(lane, lanes)}"
        self.w(f"{a.name}[{own}] = cell<{a.element}>({self.value(c)});")
        if not k.weak(4):
            self.w(meet)
        other = f"{base} + ({self.small(c)}) % {lanes}u"
        self.w(f"{dice.pick(LOCALS)} += fold({a.name}[{other}]);")
        if dice.percent(30):
            load = f"fold({a.name}[{base} + ({lane} + {dice.between(1, 3)}u) % {lanes}u])"
            self.w.open(f"if ({self.condition(c)})")
            self.w(f"V0 ^= {load};")
            self.w.close()
        if not k.weak(4):
            self.w(meet)
        if narrow:
            self.w.close()


def inner_read(c, array, which):
    return next(r for a, r in c.rights if a is array).read(which)
