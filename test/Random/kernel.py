# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel being written: its shape, its arrays, its helper functions, its text.

Every point at which something keeps the kernel free of races (a barrier, a
fence, an index map, a guard) asks `weak` first. In about half of the kernels
the answer is sometimes yes, and then the point is left out or weakened.
"""
from dataclasses import dataclass
from math import gcd

import meetings
from dice import Dice

# What fold() and cell<T>() of the prologue convert to and from `unsigned`.
ELEMENTS = ["unsigned char", "short", "unsigned short", "int", "unsigned",
            "unsigned long long", "float", "double", "uint2", "float4", "Cell",
            "Wide"]
SCALARS = ["unsigned char", "short", "unsigned short", "int", "unsigned",
           "unsigned long long"]
INPUTS = 1024  # Elements of In, which nobody writes.


@dataclass(frozen=True)
class Array:
    name: str
    element: str
    length: int  # Of the part that a block sees.
    space: str   # shared, dynamic, global (a segment a block), grid (all of it)


class Line(str):
    """A line that knows what wrote it: an idiom, or a kind of statement."""
    kind = ""


class Writer:
    """Lines with their indentation; one statement each."""

    def __init__(self, indent=0):
        self.lines, self.indent = [], indent
        self.kind = ""

    def __call__(self, *lines):
        for text in lines:
            line = Line("  " * self.indent + text)
            line.kind = self.kind
            self.lines.append(line)


    def open(self, head):
        self(head + " {")
        self.indent += 1

    def otherwise(self, head="else"):
        self.indent -= 1
        self("} " + head + " {")
        self.indent += 1

    def close(self, tail="}"):
        self.indent -= 1
        self(tail)


class Kernel:
    def __init__(self, seed, number):
        self.number = number
        self.dice = Dice(seed, number)
        self.racy = self.dice.percent(50)
        # Some racy kernels have a single weak spot, some have many.
        self.rate = self.dice.pick([4, 10, 25]) if self.racy else 0
        self.threads = self.dice.weighted(
            [(2, 32), (5, 64), (2, 96), (4, 128), (1, 40)])
        self.blocks = self.dice.weighted([(4, 1), (4, 2), (2, 3), (2, 4)])
        self.cluster = 2 if self.blocks % 2 == 0 and self.dice.percent(40) else 1
        self.flat = self.threads % 16 != 0 or self.dice.percent(80)
        self.arrays = []
        self.init = Writer(1)     # Before the first barrier.
        self.init.kind = "init"
        self.body = Writer(1)
        self.helpers = Writer(0)
        self.needs_ref = False    # cuda::atomic_ref
        self.needs_groups = False  # cooperative groups
        self.taste = meetings.choose_taste(self.dice)
        self.someone_left = False  # Threads of the block that have returned
        self.lanes_left = False    # and not whole warps.
        self.counter = 0
        self.weaknesses = 0
        # Whether it computes the same thing under every schedule, if it has no
        # race.
        self.repeatable = True
        # Most kernels do nothing that keeps them from it.
        self.is_steady = self.dice.percent(65)
        self.updates = {}         # Array name -> kinds of atomic updates.
        self.may_use_libcudacxx = False
        self.agent = None         # hosts.Agent: what is done beside the kernel.

    @property
    def whole_warps(self):
        return self.threads % 32 == 0 and not self.lanes_left

    @property
    def warps(self):
        return (self.threads + 31) // 32

    def weak(self, factor=1):
        if not self.racy or not self.dice.percent(min(self.rate * factor, 90)):
            return False
        self.weaknesses += 1
        return True

    def writes(self, kind, write, *arguments):
        """Has something written, in whose name the lines are."""
        before = self.body.kind
        self.body.kind = self.helpers.kind = kind
        write(*arguments)
        self.body.kind = self.helpers.kind = before

    def name(self, stem):
        """A name that nothing else of the file has."""
        self.counter += 1
        return f"{stem}{self.number}_{self.counter}"

    def local(self, stem):
        """A name that nothing else of the kernel has."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def array(self, element, length, space, zero=False, stem=None):
        """Declares an array. Shared ones are filled before the first barrier."""
        if space == "dynamic" and any(a.space == "dynamic" for a in self.arrays):
            space = "shared"
        stem = stem or {"shared": "S", "dynamic": "D", "global": "G",
                        "grid": "W"}[space]
        made = Array(self.local(stem), element, length, space)
        self.arrays.append(made)
        if space in ("shared", "dynamic"):
            value = "0u" if zero else f"In[(I * {self.odd(63)}u + {self.dice.below(99)}u) % {INPUTS}u]"
            # The reducer must not make it read what was never written.
            self.init.open(f"for (unsigned I = Tid; I < {length}u; I += {self.threads}u)")
            self.init(f"{made.name}[I] = cell<{element}>({value}); // keep")
            self.init.close()
        return made

    def odd(self, limit):
        return 2 * self.dice.below((limit + 1) // 2) + 1

    def coprime(self, n):
        """A factor that permutes the numbers below n."""
        while True:
            factor = 1 + self.dice.below(max(n - 1, 1))
            if gcd(factor, n) == 1:
                return factor

    def permuted(self, index, n):
        """The index, one-to-one, in another order."""
        if n == 1:
            return "0u"
        factor, shift = self.coprime(n), self.dice.below(n)
        scaled = index if factor == 1 else f"{index} * {factor}u"
        return f"({scaled} + {shift}u) % {n}u" if shift else f"{scaled} % {n}u"

    # ----- text -----

    def parameters(self):
        rows = [("const unsigned *__restrict__ In" if self.dice.percent(30)
                 else "const unsigned *In"), "unsigned *Out"]
        for a in self.arrays:
            if a.space in ("global", "grid"):
                rows.append(f"{a.element} *{a.name}{'All' if a.space == 'global' else ''}")
        return rows

    def text(self):
        """The helpers, the kernel, and the host function that runs it."""
        out = Writer()
        out.lines += self.helpers.lines
        parameters = ", ".join(self.parameters())
        out.open(f"__global__ void k{self.number}({parameters})")
        for a in self.arrays:
            if a.space == "shared":
                out(f"__shared__ {a.element} {a.name}[{a.length}];")
            elif a.space == "dynamic":
                out("extern __shared__ __align__(16) unsigned char Dynamic[];",
                    f"{a.element} *{a.name} = ({a.element} *)Dynamic;")
        if self.flat:
            out("const unsigned Tid = threadIdx.x;")
        else:
            out("const unsigned Tid = threadIdx.y * 16u + threadIdx.x;")
        out("const unsigned Lane = Tid % 32u;", "const unsigned Warp = Tid / 32u;",
            "const unsigned Block = blockIdx.x;",
            f"const unsigned Gid = Block * {self.threads}u + Tid;",
            f"unsigned V0 = In[Gid % {INPUTS}u];",
            f"unsigned V1 = Tid * {self.odd(999)}u;",
            f"unsigned V2 = In[(Gid * 3u + {self.dice.below(INPUTS)}u) % {INPUTS}u] % 64u;",
            f"unsigned V3 = Block + {self.dice.below(100)}u;")
        for a in self.arrays:
            if a.space == "global":
                segment = self.permuted("Block", self.blocks)
                out(f"{a.element} *{a.name} = {a.name}All + ({segment}) * {a.length}u;")
        out.lines += self.init.lines + self.body.lines
        out("Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep")
        out.close()
        out("")
        self.host(out)
        return out.lines

    def host(self, out):
        dynamic = [a for a in self.arrays if a.space == "dynamic"]
        bytes_ = f"{dynamic[0].length} * sizeof({dynamic[0].element})" if dynamic else "0"
        out.open(f"static bool run{self.number}(const unsigned *In)")
        threads = self.threads * self.blocks
        out(f"Buffer<unsigned> Out({threads});")
        names = ["In", "Out.Data"]
        values = ["Out.hash()"]
        agent = self.agent
        for a in self.arrays:
            if a.space in ("global", "grid"):
                length = a.length * (self.blocks if a.space == "global" else 1)
                managed = ", true" if agent and agent.is_managed and agent.array is a else ""
                out(f"Buffer<{a.element}{managed}> {a.name}({length});")
                names.append(f"{a.name}.Data")
                values.append(f"{a.name}.hash()")
        if agent:
            out(*agent.declared, "Streams S;", *agent.before)
            values += agent.hashes
        stream = "S.Own" if agent else "0"
        shape = f"{self.threads}" if self.flat else f"dim3(16, {self.threads // 16})"
        if self.cluster > 1:
            out(f"launch(k{self.number}, {self.cluster}, {self.blocks}, {shape}, {bytes_}, {stream}, {', '.join(names)});")
        else:
            out(f"k{self.number}<<<{self.blocks}, {shape}, {bytes_}, {stream}>>>({', '.join(names)});")
        if agent:
            out(*agent.after)
        kind = "true" if self.repeatable and not self.racy else "false"
        out(f"return finish({self.number}, {kind}, {{{', '.join(values)}}});")
        out.close()
        out("")
