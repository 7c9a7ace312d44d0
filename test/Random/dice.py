# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random choices that are the same on every machine and in every Python."""

MASK = (1 << 64) - 1


class Dice:
    """SplitMix64. Python's own generator promises equal sequences for random()
    only, not for what is built on it."""

    def __init__(self, *key):
        self.state = 0x5DEECE66D
        for part in key:
            self.state = (self.state * 0x100000001B3 ^ int(part)) & MASK
            self.bits()

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def below(self, n):
        return self.bits() % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def percent(self, chance):
        return self.below(100) < chance

    def pick(self, items):
        return items[self.below(len(items))]

    def weighted(self, pairs):
        """One of [(weight, item), ...]."""
        at = self.below(sum(weight for weight, _ in pairs))
        for weight, item in pairs:
            at -= weight
            if at < 0:
                return item
        raise AssertionError

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items
