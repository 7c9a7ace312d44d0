#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random kernels on the simulated GPU, with the collider or metadata mode
and the oracle over the same schedule. A kernel fails if the collider names a line
that the oracle does not call racy in that run, or metadata mode a pair of lines,
if the simulated GPU finds fault with it, or if a result that cannot depend on the
schedule does.
"""
import argparse
import concurrent.futures
import os
import sys
import time
from collections import Counter
from pathlib import Path

import generate
import harness
from reduce import reduce

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))
import precompiled  # noqa: E402


class Kernel:
    """What all runs of a kernel have shown."""

    def __init__(self, seed, number, optimisation):
        self.seed, self.number, self.optimisation = seed, number, optimisation
        self.failures = []  # (what, schedule, schedule seed)
        self.accused, self.races, self.values = set(), set(), set()
        self.weaknesses = 0
        # By run, of the oracle's pairs of lines: those that metadata mode found,
        # and where it did not, of what kind they are.
        self.found_pairs, self.missed_pairs = 0, []
        # The same of pairs that no other one stands for.
        self.found_last, self.missed_last = 0, []
        self.racy_lines = self.named_lines = 0
        self.merged = set()  # Lines or pairs that race as written, and not as compiled.
        self.copies = self.found_copies = 0  # Pairs of asynchronous copies.

    def found(self):
        return {pair for pair in self.races if self.accused & set(pair)}

    def name(self):
        return f"seed {self.seed} kernel {self.number} {self.optimisation}"


def judge(kernel, outcome, schedule, unoptimised, mode="collider", kinds=()):
    """One run's findings about one kernel. `kinds`: of the file's lines."""
    if mode == "metadata":
        judge_pairs(kernel, outcome, schedule, unoptimised, kinds)
    else:
        judge_lines(kernel, outcome, schedule, unoptimised)
    kernel.accused |= outcome.accused(kernel.number)
    kernel.races |= outcome.races[kernel.number]


def judge_pairs(kernel, outcome, schedule, unoptimised, kinds):
    number = kernel.number
    wrong = sorted(outcome.unconfirmed_pairs(number))
    merged = {pair for pair in wrong if unoptimised.races(pair, number)}
    kernel.merged |= merged
    wrong = [pair for pair in wrong if pair not in merged]
    if wrong:
        kernel.failures.append((
            f"metadata mode names lines {', '.join(f'{a} and {b}' for a, b in wrong)}, "
            "which do not race", *schedule))
    found = outcome.found_pairs(number)
    copies = {pair for owner, pair in outcome.copies if owner == number}
    kernel.copies += len(copies)
    kernel.found_copies += len(copies & found)
    kernel.found_pairs += len(found)
    last = {harness.lines_of(sides) for sides in outcome.last_sides[number]}
    kernel.found_last += len(found & last)
    racy = {line for sides in outcome.pairs(number) for line in harness.lines_of(sides)} - {0}
    kernel.racy_lines += len(racy)
    kernel.named_lines += len(racy & outcome.accused(number))
    for pair in sorted({harness.lines_of(sides) for sides in outcome.pairs(number)} - found):
        heading, distance = outcome.details[number, pair]
        miss = (pair, schedule, f"{heading} {distance}",
                tuple(sorted(kinds[n - 1] if 0 < n <= len(kinds) else "" for n in pair)))
        kernel.missed_pairs.append(miss)
        if pair in last:
            kernel.missed_last.append(miss)


def judge_lines(kernel, outcome, schedule, unoptimised):
    wrong = sorted(outcome.unconfirmed(kernel.number))
    merged = {line for line in wrong if unoptimised.races_at(line, kernel.number)}
    kernel.merged |= merged
    wrong = [line for line in wrong if line not in merged]
    if wrong:
        kernel.failures.append((f"the collider names line {', '.join(map(str, wrong))}, "
                                "which is not racy", *schedule))


class Batch:
    """A file of kernels."""

    def __init__(self, args, seed, numbers, optimisation):
        self.args, self.seed, self.numbers = args, seed, numbers
        self.optimisation = optimisation
        self.kinds = []
        self.kernels = {n: Kernel(seed, n, optimisation) for n in numbers}
        self.stem = args.out / f"seed{seed}{optimisation}"
        self.source, self.binary = self.stem.with_suffix(".cu"), self.stem.with_suffix(".exe")
        self.unoptimised = harness.Unoptimised(args.tools, self.source, args.options)

    def run(self):
        lines = generate.lines_of(self.seed, self.numbers)
        self.kinds = [getattr(line, "kind", "") for line in lines]
        text = "\n".join(lines) + "\n"
        self.source.write_text(text)
        for number, count in harness.weaknesses(text).items():
            self.kernels[number].weaknesses = count
        complaint = harness.compile_file(self.args.tools, self.source, self.binary,
                                         self.optimisation, self.args.mode)
        if complaint:
            for kernel in self.kernels.values():
                kernel.failures.append((f"does not compile: {complaint.splitlines()[0]}", "", 0))
            return self
        for schedule in self.args.plan:
            self.run_schedule(schedule)
        self.compare_results()
        self.binary.unlink()
        return self

    def execute(self, schedule, kernels=()):
        options = harness.options_of(*schedule, self.args.detector) + self.args.options
        outcome = harness.execute(self.args.tools, self.binary, self.source, options, kernels,
                                  self.args.timeout)
        if self.args.mode == "metadata" and outcome.sides and not outcome.fault:
            # The same run again.
            outcome.last_sides = harness.execute(
                self.args.tools, self.binary, self.source, options + ":every_line=0", kernels,
                self.args.timeout).sides
        return outcome

    def run_schedule(self, schedule):
        outcome = self.execute(schedule)
        if not outcome.fault:
            return self.take(outcome, self.kernels, schedule)
        # The rest was not run, or who is at fault is not known: one by one.
        for number, kernel in self.kernels.items():
            outcome = self.execute(schedule, [number])
            if outcome.fault:
                kernel.failures.append((outcome.fault, *schedule))
            self.take(outcome, {number: kernel}, schedule)

    def take(self, outcome, kernels, schedule):
        for number, kernel in kernels.items():
            judge(kernel, outcome, schedule, self.unoptimised, self.args.mode, self.kinds)
            if outcome.results.get(number, (False,))[0]:
                kernel.values.add(outcome.results[number][1])

    def compare_results(self):
        for kernel in self.kernels.values():
            if len(kernel.values) > 1 and not kernel.races and not kernel.failures:
                kernel.failures.append(("its result depends on the schedule", *self.args.plan[0]))


def kind_of(failure):
    """What must stay the same while the kernel shrinks."""
    return failure.split(" line ")[0].split(":")[0]


def write_failure(args, kernel):
    """A small kernel that still fails, with what to type."""
    what, policy, seed = kernel.failures[0]
    stem = args.out / f"failure-{kernel.seed}-{kernel.number}{kernel.optimisation}"
    source, binary = stem.with_suffix(".cu"), stem.with_suffix(".exe")
    schedules = [(policy, seed)] + [s for s in args.plan if s != (policy, seed)]

    def fails_with(text):
        source.write_text(text)
        if harness.compile_file(args.tools, source, binary, kernel.optimisation, args.mode):
            return None
        unoptimised = harness.Unoptimised(args.tools, source, args.options)
        for schedule in schedules:
            outcome = harness.execute(args.tools, binary, source,
                                      harness.options_of(*schedule, args.detector) + args.options,
                                      timeout=min(args.timeout, 20))
            probe = Kernel(kernel.seed, kernel.number, kernel.optimisation)
            if outcome.fault:
                probe.failures.append((outcome.fault, *schedule))
            judge(probe, outcome, schedule, unoptimised, args.mode)
            for failure in probe.failures:
                if kind_of(failure[0]) == kind_of(what):
                    return failure
        return None

    text = generate.render(kernel.seed, [kernel.number])
    if policy and fails_with(text):
        text = reduce(text, fails_with, args.reduce_seconds)
    small = fails_with(text) if policy else None
    what, policy, seed = small or kernel.failures[0]
    flags = " ".join(harness.flags(args.mode, kernel.optimisation))
    # Below, lest it move the lines.
    text += (f"// {kernel.name()}: {what}\n"
             f"// crsan-clang++ {flags} {source.name} -o failure\n"
             f"// CRSAN_OPTIONS={harness.options_of(policy, seed, args.detector)}{args.options} "
             "crsan run --device=sim ./failure\n")
    source.write_text(text)
    binary.unlink(missing_ok=True)
    return source


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split(".")[0])
    parser.add_argument("--build", type=Path, default=HERE.parent.parent / "build", metavar="DIR",
                        help="CRSan's build folder")
    parser.add_argument("--mode", choices=["collider", "metadata"], default="collider",
                        help="of -fsanitize-cuda-race-mode (collider)")
    parser.add_argument("--missed", type=int, default=20, metavar="N",
                        help="kinds of pairs that metadata mode missed that are listed (20)")
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--batch", type=int, default=25, help="kernels in a file (25)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first file (1)")
    parser.add_argument("--only", type=int, action="append", metavar="N",
                        help="only this kernel of each file")
    parser.add_argument("--schedules", type=int, default=3, help="seeds of the schedule (3)")
    parser.add_argument("--policies", default="random,random,pct",
                        help="of the schedule, taken in turn")
    parser.add_argument("--levels", default="-O2,-O2,-O3,-O2,-O0,-O2,-O1,-O2",
                        help="of optimisation, taken in turn by files")
    parser.add_argument("--cuda-path", default=os.environ.get("CUDA_PATH", "/usr/local/cuda"))
    parser.add_argument("--detector", default="both", help=argparse.SUPPRESS)
    parser.add_argument("--options", default="", help="more CRSAN_OPTIONS, a=b:c=d")
    parser.add_argument("--jobs", type=int,
                        default=int(os.environ.get("JOBS") or os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=120, metavar="S",
                        help="seconds for one run of a file (120)")
    parser.add_argument("--reduce-seconds", type=float, default=120, metavar="S",
                        help="for making one failing kernel small (120)")
    parser.add_argument("--reduce-at-most", type=int, default=5, metavar="N",
                        help="failing kernels that are made small (5)")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="for sources and failures (random-kernels in the build folder)")
    args = parser.parse_args()
    args.out = args.out or args.build / "random-kernels"
    args.out.mkdir(parents=True, exist_ok=True)
    args.build = args.build.resolve()
    assembler = precompiled.NoAssembler(args.build / "precompiled", args.cuda_path)
    args.tools = harness.Tools(args.build / "bin" / "crsan", args.build / "bin" / "crsan-clang++",
                               args.cuda_path, assembler.flags(()))
    policies = args.policies.split(",")
    args.plan = [(policies[i % len(policies)], i + 1) for i in range(args.schedules)]
    args.options = f":{args.options}" if args.options else ""
    if args.mode == "metadata":
        # It follows CUDA C++: fences that no atomic goes between order nothing.
        args.options += ":fences_synchronise=0"
    return args


def batches(args):
    levels = args.levels.split(",")
    left, seed = args.kernels, args.seed
    while left > 0:
        numbers = list(range(min(args.batch, left)))
        left -= len(numbers)
        wanted = [n for n in numbers if not args.only or n in args.only]
        yield Batch(args, seed, wanted, levels[(seed - 1) % len(levels)])
        seed += 1


def share(part, whole):
    return f"{part} of {whole} ({100 * part // whole if whole else 100} %)"


def missed(kernels, at_most):
    """What metadata mode missed of those pairs that no other one stands for: by what
    wrote the two lines, by what they do, and an example of each."""
    kinds, deeds, examples = Counter(), Counter(), {}
    for k in kernels:
        for pair, schedule, deed, kind in k.missed_last:
            kind = " and ".join(name or "other" for name in dict.fromkeys(kind))
            example = f"{k.name()} lines {pair[0]} and {pair[1]}, {schedule[0]} {schedule[1]}"
            for counts, key in (kinds, kind), (deeds, deed):
                counts[key] += 1
                examples.setdefault(key, example)
    for counts in kinds, deeds:
        for key, count in counts.most_common(at_most):
            yield f"missed {count}: {key} ({examples[key]})"


def summary_of_pairs(kernels):
    def part(found, missed):
        pairs = found + missed
        return f"{found} of {pairs} racing pairs, {100 * found / pairs if pairs else 100:.2f} %"

    every = part(sum(k.found_pairs for k in kernels), sum(len(k.missed_pairs) for k in kernels))
    last = part(sum(k.found_last for k in kernels), sum(len(k.missed_last) for k in kernels))
    return (f"metadata mode found {every}; without those that a later access of the same "
            f"threads stands for, {last}; it named "
            f"{share(sum(k.named_lines for k in kernels), sum(k.racy_lines for k in kernels))} "
            "racy lines; of pairs with an asynchronous copy, it found "
            f"{share(sum(k.found_copies for k in kernels), sum(k.copies for k in kernels))}")


def summary(kernels, seconds, mode="collider"):
    failed = sum(bool(k.failures) for k in kernels)
    racy = [k for k in kernels if k.races]
    if mode == "metadata":
        racy = [k for k in racy if any(any(pair) for pair in k.races)]
        return (f"{len(kernels) - failed} passed, {failed} failed; {len(racy)} kernels racy; "
                f"{summary_of_pairs(kernels)}, and something in "
                f"{share(sum(bool(k.accused) for k in racy), len(racy))} racy kernels; "
                f"{sum(len(k.merged) for k in kernels)} pairs race without optimisation only; "
                f"{seconds / max(len(kernels), 1):.2f} s a kernel")
    races = sum(len(k.races) for k in racy)
    found = sum(len(k.found()) for k in racy)
    return (f"{len(kernels) - failed} passed, {failed} failed; {len(racy)} kernels racy; "
            f"the collider found {share(found, races)} races, in "
            f"{share(sum(bool(k.accused) for k in racy), len(racy))} racy kernels; "
            f"{sum(len(k.merged) for k in kernels)} lines race without optimisation only; "
            f"{seconds / max(len(kernels), 1):.2f} s a kernel")


def main():
    args = arguments()
    start, kernels = time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in concurrent.futures.as_completed(
                [pool.submit(b.run) for b in batches(args)]):
            kernels += done.result().kernels.values()
    seconds = time.monotonic() - start
    kernels.sort(key=lambda k: (k.seed, k.number))
    failed = [k for k in kernels if k.failures]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        sources = list(pool.map(lambda k: write_failure(args, k), failed[:args.reduce_at_most]))
    for index, kernel in enumerate(failed):
        what, policy, seed = kernel.failures[0]
        where = f" -> {sources[index]}" if index < len(sources) else ""
        print(f"FAILED: {kernel.name()}, schedule {policy} {seed}: {what}{where}")
    for kernel in kernels:
        if kernel.races and not kernel.weaknesses:
            lines = sorted({line for pair in kernel.races for line in pair})
            print(f"note: {kernel.name()} was meant to be free of races; lines {lines}")
    for line in missed(kernels, args.missed):
        print(line)
    print(summary(kernels, seconds, args.mode))
    return 1 if failed or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
