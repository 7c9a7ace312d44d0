# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a file of random kernels, runs it on the simulated GPU with its own
detector and the oracle over one schedule, and reads what they say."""
import os
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FLAGS = ["-fsanitize=cuda-race", "-fsanitize-cuda-race-host", "-std=c++17", "--cuda-gpu-arch=sm_90", "-g"]
MARK = re.compile(r"// ---- kernel (\d+), (\d+) weaknesses")
HEADING = re.compile(r"^CRSan: data race: (.*)")
FAULT = re.compile(r"^CRSan: kernel fault: (.*)")
FRAME = re.compile(r"^    #(\d+) .* at (.+?):(\d+)(?::(\d+))?$")
SIDE = re.compile(r"^  (?:earlier )?(.*?)(?: of \d+ bytes?.*)? (?:at|by) .*:$")
ALSO = re.compile(r"^    also (read|write) at (.*)")
# Of a race with the host or with a stream's operation, only one side is a kernel's.
KERNEL = re.compile(r"^  kernel(?: of the earlier access)?: k(\d+)\(", re.M)
ACTOR = re.compile(r"^  .* by block (\S+) thread (\S+)(?: of another kernel)?:$", re.M)
# The last lines of a report, the second of the oracle's alone.
SUMMARY = re.compile(r"^SUMMARY: CRSan: .*\n", re.M)
ORACLE = re.compile(r"^CRSan: oracle checked ", re.M)
SEEN = re.compile(r"^  first seen: (block \S+ thread \S+) .*address (0x[0-9a-f]+)", re.M)
RESULT = re.compile(r"^kernel (\d+) (repeatable|varying) ([0-9a-f]+)$", re.M)


@dataclass
class Tools:
    crsan: Path
    compiler: Path
    cuda: str = ""
    flags: tuple = ()  # For the compiler, besides.


@dataclass
class Accusation:
    """By the program's instrumentation. Line 0: of several lines that the compiler
    made one. Metadata mode's have two sides."""
    kernel: int
    lines: set
    places: set  # innermost ones, in headers too
    seen: tuple  # block, thread and address, as printed
    sides: list = field(default_factory=list)  # (line, innermost place)
    # All pairs of sides that metadata mode names, those of companions too.
    pairs: list = field(default_factory=list)


@dataclass
class Outcome:
    """What one run has shown."""
    accusations: list = field(default_factory=list)
    races: dict = field(default_factory=lambda: defaultdict(set))  # pairs of lines, by kernel
    sides: dict = field(default_factory=lambda: defaultdict(set))  # with innermost places
    # Those of an oracle that forgets what a later access stands for.
    last_sides: dict = field(default_factory=lambda: defaultdict(set))
    # Innermost places in headers that the oracle names, of which clang's PTX
    # does not tell where they were inlined.
    foreign: set = field(default_factory=set)
    # Lines of the file's helpers, and lines that call one: clang's PTX puts a load
    # of a helper that was inlined on either.
    helpers: range = range(0)
    callers: set = field(default_factory=set)
    # What the oracle says of a pair, by kernel and pair: its heading, and how
    # far apart the two threads are.
    details: dict = field(default_factory=dict)
    # Pairs, by kernel, of which one side is an asynchronous copy.
    copies: set = field(default_factory=set)
    results: dict = field(default_factory=dict)
    fault: str = ""  # of the simulated GPU, or of the run
    output: str = ""

    def accused(self, kernel):
        return {line for a in self.accusations if a.kernel == kernel for line in a.lines}

    def is_same(self, accused, racy):
        """Whether the two are one place, as far as clang's PTX and the
        instrumentation agree about lines."""
        (line, place), (other, foreign) = accused, racy
        if line == other or not line or not other:
            return bool(line or other) or place == foreign
        return (line in self.helpers and other in self.callers or
                other in self.helpers and line in self.callers)

    def is_same_pair(self, accused, racy):
        (a, b), (x, y) = accused, racy
        return (self.is_same(a, x) and self.is_same(b, y) or
                self.is_same(a, y) and self.is_same(b, x))

    def unconfirmed_pairs(self, kernel):
        """Pairs of lines that metadata mode accuses and the oracle does not."""
        return {lines_of(sides) for a in self.accusations if a.kernel == kernel
                for sides in a.pairs
                # The oracle puts what is inlined from a header to one kernel of all.
                if not all(place in self.foreign for _, place in sides) and
                not any(self.is_same_pair(sides, pair) for pair in self.sides[kernel])}

    def pairs(self, kernel):
        """Not those inside CUDA's headers alone: where the hardware has no such
        atomic, clang makes a plain load and a compare-and-swap of one."""
        return {pair for pair in self.sides[kernel]
                if any(lines_of(pair)) or len(set(pair)) > 1}

    def found_pairs(self, kernel):
        """Those of the oracle's pairs of lines that metadata mode accuses too."""
        mine = [sides for a in self.accusations if a.kernel == kernel for sides in a.pairs]
        return {lines_of(pair) for pair in self.pairs(kernel)
                if any(self.is_same_pair(sides, pair) for sides in mine)}

    def unconfirmed(self, kernel):
        """Lines that the collider names and that the oracle does not call racy."""
        racy = {line for pair in self.races[kernel] for line in pair}
        mine = [a for a in self.accusations if a.kernel == kernel]
        # ptxas' input has one load where the source, and the collider, have two.
        confirmed = {a.seen for a in mine if a.lines <= racy and 0 not in a.lines}
        if any(line in self.helpers for line in racy):
            racy |= self.callers
        if racy:
            racy.add(0)
        return {line for a in mine if a.seen not in confirmed and not a.places & self.foreign
                for line in a.lines - racy}


def flags(mode, optimisation):
    return [*FLAGS, *([f"-fsanitize-cuda-race-mode={mode}"] if mode != "collider" else []),
            optimisation]


def compile_file(tools, source, binary, optimisation, mode="collider"):
    """Gives back clang's complaints, empty if there are none."""
    command = [tools.compiler, *flags(mode, optimisation), *tools.flags, source, "-o", binary]
    done = subprocess.run([str(word) for word in command], text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else ""


class Unoptimised:
    """What the oracle says of a file that is compiled as it is written. The code
    generator forwards and merges accesses that the instrumentation has seen, and
    puts what is left on a line of its choice; so a line or a pair of lines that the
    oracle does not confirm may race all the same."""

    def __init__(self, tools, source, options):
        self.tools, self.source, self.options = tools, source, options
        self.binary = Path(f"{source}.O0.exe")
        self.sides = {}  # By kernel.

    def races(self, pair, kernel):
        return pair in self.pairs(kernel)

    def races_at(self, line, kernel):
        return any(line in pair for pair in self.pairs(kernel))

    def pairs(self, kernel):
        if kernel not in self.sides:
            self.sides[kernel] = self.ask(kernel)
        return {lines_of(sides) for sides in self.sides[kernel]}

    def ask(self, kernel):
        if compile_file(self.tools, self.source, self.binary, "-O0", "metadata"):
            return set()
        sides = set()
        for seed in range(1, 5):
            sides |= execute(self.tools, self.binary, self.source,
                             options_of("random", seed) + self.options, [kernel]).sides[kernel]
        self.binary.unlink()
        return sides


def options_of(schedule, seed, detector="both"):
    # What is left of a kernel may have nothing to check. What both detectors find is
    # wanted twice.
    return (f"detector={detector}:schedule={schedule}:seed={seed}:exit_timeout_ms=100:"
            "require_checked=0:print_again=1")


def execute(tools, binary, source, options, kernels=(), timeout=60):
    command = [tools.crsan, "run", "--device=sim", binary, *kernels]
    environment = {**os.environ, "CRSAN_OPTIONS": options}
    try:
        done = subprocess.run([str(word) for word in command], text=True, errors="replace",
                              env=environment, stdin=subprocess.DEVNULL, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = None, (late.stdout or b"").decode(errors="replace")
    outcome = read_output(output, Path(source).name)
    text = Path(source).read_text()
    outcome.helpers, outcome.callers = helpers(text)
    for accusation in outcome.accusations:
        if accusation.kernel < 0:
            accusation.kernel = owner(text, accusation.lines)
    if outcome.fault:
        return outcome
    if status is None:
        outcome.fault = f"did not end within {timeout} s"
    elif status < 0:
        outcome.fault = f"killed by signal {-status}"
    elif status not in (0, 66) or "DONE" not in output.splitlines():
        outcome.fault = f"exit status {status}"
    return outcome


def read_output(output, name):
    """Splits the findings into the collider's and the oracle's."""
    outcome = Outcome(output=output)
    for report in SUMMARY.split(output):
        is_oracle = bool(ORACLE.search(report))
        for text in report.split("==================\n"):
            read_finding(outcome, text, name, is_oracle)
    for number, kind, value in RESULT.findall(output):
        outcome.results[int(number)] = (kind == "repeatable", value)
    return outcome


def read_finding(outcome, text, name, is_oracle):
    """What stands between two rules, or beside them."""
    lines = text.splitlines()
    if not lines:
        return
    fault, heading = FAULT.match(lines[0]), HEADING.match(lines[0])
    if fault:
        outcome.fault = outcome.fault or fault[1]
    if not heading:
        return
    sides = places(lines, name)
    owner = KERNEL.search(text)
    kernel = int(owner[1]) if owner else -1
    if is_oracle:
        pair = lines_of(sides)
        outcome.races[kernel].add(tuple(sorted(set(pair))))
        outcome.sides[kernel].add(tuple(sides))
        if "asynchronous copy" in text:
            outcome.copies.add((kernel, pair))
        outcome.details.setdefault((kernel, pair), (heading[1], distance(text)))
        outcome.foreign.update(place for line, place in sides if not line and place)
        return
    seen = SEEN.search(text)
    pairs = pairs_of(lines, name)
    outcome.accusations.append(Accusation(
        kernel, {line for pair in pairs or [sides] for line, _ in pair},
        {place for _, place in sides if place},
        seen.groups() if seen else (text,), sides, pairs))


def lines_of(sides):
    return tuple(sorted(line for line, _ in sides))


def distance(text):
    """How far apart the threads of one of the oracle's findings are."""
    actors = ACTOR.findall(text)
    if len(actors) != 2:
        return ""
    (block, thread), (other_block, other_thread) = actors
    if block != other_block:
        return "of two blocks"
    warps = {thread_number(t) // 32 for t in (thread, other_thread)}
    return "of one warp" if len(warps) == 1 else "of one block"


def thread_number(index):
    """In its block: blocks of random kernels are 16 wide or have one row."""
    x, y, _ = map(int, index.strip("()").split(","))
    return x + 16 * y


def places(lines, name):
    """(line, innermost place) of each side. The line is that of the innermost
    frame in the source itself, since accesses in CUDA's headers belong to whoever
    called them. 0: no such line."""
    sides, inside = [], True
    for text in lines:
        frame = FRAME.match(text)
        if text.startswith("    #0 "):
            sides.append((0, f"{Path(frame[2]).name}:{frame[3]}" if frame else ""))
            inside = False
        if frame and not inside and Path(frame[2]).name == name:
            sides[-1] = (int(frame[3]), sides[-1][1])
            inside = True
    return sides


def pairs_of(lines, name):
    """The pairs of sides that metadata mode accuses: each access of the one thread
    with each of the other, where one of the two writes."""
    threads, begin = [], None
    for n, text in enumerate(lines):
        if SIDE.match(text):
            begin = n
        also = ALSO.match(text)
        if text.startswith("    #0 ") and begin == n - 1:
            what = SIDE.match(lines[begin])[1]
            threads.append([(what.split()[-1] != "read", places(lines[n:], name)[0])])
        elif also:
            places_of = also[2].split(", inlined at ")
            frames = [f"    #{i} f at {place}" for i, place in enumerate(places_of)]
            threads[-1].append((also[1] == "write", places(frames, name)[0]))
    if len(threads) != 2:
        return []
    return [[a, b] for a_writes, a in threads[0] for b_writes, b in threads[1]
            if a_writes or b_writes]


def helpers(text):
    """The lines ahead of the first kernel, and the lines behind that call them."""
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines, 1) if MARK.match(line)), 1)
    return range(1, begin), {n for n, line in enumerate(lines, 1)
                             if n >= begin and re.search(r"\b(fold\(|cell<)", line)}


def owner(text, lines):
    """The kernel that one of the lines belongs to, -1 if none of them does."""
    found, begins = -1, [(n, int(mark[1])) for n, line in enumerate(text.splitlines(), 1)
                         if (mark := MARK.match(line))]
    for begin, number in begins:
        if any(line > begin for line in lines):
            found = number
    return found


def weaknesses(text):
    """Weak spots by kernel."""
    return {int(number): int(count) for number, count in MARK.findall(text)}
