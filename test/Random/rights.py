# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a thread may do with an array between two barriers.

Each class knows index expressions that are always in bounds, and that no two
threads can use to race unless the kernel asks for weakness.
"""

ATOMICS = {
    "unsigned": ["atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd",
                 "atomicOr", "atomicXor", "atomicExch", "atomicInc", "atomicDec"],
    "int": ["atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd",
            "atomicOr", "atomicXor", "atomicExch"],
    "unsigned long long": ["atomicAdd", "atomicMin", "atomicMax", "atomicAnd",
                           "atomicOr", "atomicXor", "atomicExch"],
    "unsigned short": [],  # compare and swap only
    "float": ["atomicAdd", "atomicExch"],
    "double": ["atomicAdd"],
}
# Those whose order does not show, where nobody looks at what they return.
COMMUTING = {"atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd",
             "atomicOr", "atomicXor"}


class Own:
    """Every thread has cells of its own: one of each `threads` elements."""
    can_write = True

    def __init__(self, kernel, array, index="Tid", count=None, scale=1, offset=0):
        self.k, self.array = kernel, array
        self.count = count or kernel.threads
        self.scale, self.offset = scale, offset
        self.rounds = max(array.length // scale // self.count, 1)
        self.place = kernel.permuted(index, self.count)
        self.index = index
        self.strided = kernel.dice.percent(50)

    def cell(self, which):
        """An own cell; `which` (an expression) chooses among them."""
        k, place = self.k, self.place
        if k.weak():
            place = k.dice.pick([
                f"({self.index} / 2u)",
                f"({self.index} + V2 % 2u) % {self.count}u",
                f"{self.index} % {max(self.count // 2, 1)}u",
                f"({place} + 1u) % {self.count}u"])
        if self.rounds == 1:
            index = place
        elif self.strided:
            index = f"{place} + ({which}) % {self.rounds}u * {self.count}u"
        else:
            index = f"({place}) * {self.rounds}u + ({which}) % {self.rounds}u"
        if self.scale > 1:
            index = f"({index}) * {self.scale}u + {self.offset}u"
        return index

    def read(self, which):
        return self.cell(which)


class ReadOnly:
    """Nobody writes."""
    can_write = False

    def __init__(self, kernel, array):
        self.k, self.array = kernel, array

    def read(self, which):
        return f"({which}) % {self.array.length}u"


class Parity:
    """Elements of one parity are read by all, those of the other have owners."""
    can_write = True

    def __init__(self, kernel, array):
        self.k, self.array = kernel, array
        self.written = kernel.dice.below(2)
        self.own = Own(kernel, array, scale=2, offset=self.written)

    def cell(self, which):
        return self.own.cell(which)

    def read(self, which):
        half = self.array.length // 2
        parity = self.written if self.k.weak() else 1 - self.written
        return f"({which}) % {half}u * 2u + {parity}u"

    def guard(self, index):
        """Whether anybody may read this element."""
        if self.k.weak():
            return f"{index} % 4u != {2 + self.written}u"
        return f"{index} % 2u == {1 - self.written}u"


class Atomic:
    """Everybody updates, atomically."""
    can_write = False

    def __init__(self, kernel, array):
        self.k, self.array = kernel, array

    def cell(self, which):
        return f"({which}) % {self.array.length}u"


class Chosen:
    """One thread of each `group` owns what is the group's; the guard tells."""
    can_write = False  # Only under the guard.

    def __init__(self, kernel, array, group):
        self.k, self.array, self.group = kernel, array, group
        self.chosen = kernel.dice.below(group)
        self.variable = kernel.dice.pick(["Tid", "Tid", "Lane"])
        # One map for the whole phase: two would cross each other.
        self.own = Own(kernel, array, f"(Tid / {group}u)",
                       (kernel.threads + group - 1) // group)

    def guard(self):
        if self.k.weak():
            return self.k.dice.pick([
                f"{self.variable} % {self.group}u <= {self.chosen}u + 1u",
                f"{self.variable} % {max(self.group // 2, 1)}u == "
                f"{self.chosen % max(self.group // 2, 1)}u"])
        return f"{self.variable} % {self.group}u == {self.chosen}u"

    def owned(self):
        return self.own


class Leader:
    """One thread of the block, or of all blocks, owns everything."""
    can_write = False

    def __init__(self, kernel, array):
        self.k, self.array = kernel, array
        self.thread = kernel.dice.below(kernel.threads)
        self.block = kernel.dice.below(kernel.blocks) if array.space == "grid" else None

    def guard(self):
        if self.k.weak():
            return f"Tid / 2u == {self.thread // 2}u"
        guard = f"Tid == {self.thread}u"
        return guard if self.block is None else f"{guard} && Block == {self.block}u"

    def owned(self):
        return Everything(self.k, self.array)


class Everything:
    """The only thread around."""
    can_write = True

    def __init__(self, kernel, array):
        self.k, self.array = kernel, array

    def cell(self, which):
        return f"({which}) % {self.array.length}u"

    read = cell


class Warps:
    """Each group of lanes has a stretch of its own, where they trade places."""
    can_write = False

    def __init__(self, kernel, array):
        self.k, self.array = kernel, array
        self.lanes = kernel.dice.pick([32, 32, 16, 8, 4])


def choose(kernel, array):
    """Some right to an array that is legal for it until the next barrier."""
    k, dice = kernel, kernel.dice
    if array.space == "grid":
        raise AssertionError("grid arrays have one right for the whole kernel")
    choices = [(6, lambda: Own(k, array)), (5, lambda: ReadOnly(k, array)),
               (3, lambda: Chosen(k, array, dice.pick([2, 4, 8, 32]))),
               (1, lambda: Leader(k, array)), (1, lambda: None)]
    if array.element in ATOMICS:
        choices.append((4, lambda: Atomic(k, array)))
    if array.length >= 2 * k.threads:
        choices.append((5, lambda: Parity(k, array)))
    if k.whole_warps and array.length >= k.threads:
        choices.append((3, lambda: Warps(k, array)))
    return dice.weighted(choices)()


def choose_for_grid(kernel, array):
    """Some right to an array of the whole grid; blocks never wait for others."""
    k, dice = kernel, kernel.dice
    choices = [(4, lambda: Own(k, array, "Gid", k.threads * k.blocks)),
               (1, lambda: ReadOnly(k, array)), (1, lambda: Leader(k, array))]
    if array.element in ATOMICS:
        choices.append((5, lambda: Atomic(k, array)))
    return dice.weighted(choices)()
