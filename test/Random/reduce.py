# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing kernel small: takes out blocks and statements while it fails."""
import time


def units(lines):
    """(first, last) of every block and statement that may go, the longest first.
    What a `// keep` is on stays with the blocks around it: without it the
    kernel would be undefined, or endless."""
    found, stack = [], []
    for at, text in enumerate(lines):
        line = text.strip()
        if line.startswith("// ----"):
            # The host's part, at column 0, is left alone.
            stack = []
        if line.startswith("}") and stack:
            start, keeps = stack.pop()
            if line.endswith("{"):
                stack.append((start, keeps))  # else: one unit with the if
                continue
            if not keeps:
                found.append((start, at))
            elif stack:
                stack[-1] = (stack[-1][0], True)
            continue
        if line.endswith("{"):
            stack.append((at, "__global__" in line or line.startswith(("static bool", "struct"))))
        elif line.endswith("// keep"):
            stack = [(start, True) for start, _ in stack]
        elif line.endswith(";") and stack and text.startswith("  "):
            found.append((at, at))
    return sorted(found, key=lambda unit: unit[0] - unit[1])


def region(lines):
    """The kernel and its helpers: from the mark to the host function."""
    first = next(i for i, text in enumerate(lines) if text.startswith("// ---- kernel"))
    last = next(i for i in range(first, len(lines)) if lines[i].startswith("static bool run"))
    return first, last


def reduce(text, still_fails, seconds):
    """The smallest text found in that time for which still_fails(text) holds."""
    end = time.monotonic() + seconds
    lines, tried, shrunk = text.splitlines(), set(), False
    while time.monotonic() < end:
        first, last = region(lines)
        for low, high in units(lines[first:last]):
            unit = "\n".join(lines[first + low:first + high + 1])
            if unit not in tried:
                break
        else:
            if not shrunk:
                break
            # What had to stay before may be able to go by now.
            tried, shrunk = set(), False
            continue
        tried.add(unit)
        shorter = lines[:first + low] + lines[first + high + 1:]
        if still_fails("\n".join(shorter) + "\n"):
            lines, shrunk = shorter, True
    return "\n".join(lines) + "\n"
