# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies the advice of reports to the planted bugs of a program, and checks that it helps.

A bug is a line `// BUG number kind`, followed by a kernel. Lines of it that race end in
`// RACE`, one of them with a word that the report must have in what it says of the memory.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
from pathlib import Path

BUG = re.compile(r"// BUG (\d+) (\w+)\n__global__ void (\w+)\((.*?)\n}\n", re.S)
INSERT = re.compile(r"^  to fix this: insert `(.+)` before line (\d+) of (\S+)$", re.M)
WRITE = re.compile(r"^  to fix this: write `(.+)` for `(.+)` in line (\d+) of (\S+)$", re.M)
DETECTORS = ["oracle", "program"]  # The latter is metadata mode, which is built in.


def execute(args, source, kernel):
    """Builds and runs a source; gives back {detector: (exit code, text)}."""
    binary = source.with_suffix("")
    built = subprocess.run([*args.compiler, f"-DKERNEL={kernel}", source.name, "-o", binary],
                           cwd=source.parent, text=True, capture_output=True)
    if built.returncode:
        return {"compiler": (built.returncode, built.stderr)}
    ran = {}
    for detector in DETECTORS:
        done = subprocess.run([args.crsan, "run", "--device=sim", f"--detector={detector}", binary],
                              cwd=source.parent, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "CRSAN_OPTIONS": "verbosity=1"})
        ran[detector] = done.returncode, done.stdout
    return ran


def apply(text, report):
    """The source after all changes that the report advises; lines from the last to the first."""
    lines = text.split("\n")
    inserts = [(int(m[2]), m[1], None) for m in INSERT.finditer(report)]
    writes = [(int(m[3]), m[1], m[2]) for m in WRITE.finditer(report)]
    for number, new, old in sorted(inserts + writes, reverse=True):
        if old is None:
            lines.insert(number - 1, new)
        elif lines[number - 1].count(old) == 1:
            lines[number - 1] = lines[number - 1].replace(old, new)
        else:
            raise ValueError(f"'{old}' is not in line {number} once")
    return "\n".join(lines)


def problems(args, text, bug):
    """What is wrong with the reports of one bug."""
    kernel, first = bug[3], text[:bug.start()].count("\n") + 1
    racing = {first + i for i, line in enumerate(bug[0].split("\n")) if "// RACE" in line}
    memory = re.search(r"// RACE (\w+)", bug[0])[1]
    source = args.folder / f"bug{bug[1]}.cu"
    source.write_text(text)
    repaired = set()  # Both detectors mostly advise the same.
    for detector, (status, report) in execute(args, source, kernel).items():
        told = report.count("CRSan: data race: ")
        named = {int(n) for n in re.findall(rf" at \S*{source.name}:(\d+)", report)}
        if status != 66 or told != 1:
            yield f"{detector}: exit code {status}, {told} findings\n{report}"
            continue
        if named != racing:
            yield f"{detector}: lines {sorted(named)} instead of {sorted(racing)}\n{report}"
        if not re.search(rf"^  memory: .*{memory}", report, re.M):
            yield f"{detector}: does not name {memory}\n{report}"
        if "  to fix this: " not in report:
            yield f"{detector}: no advice\n{report}"
            continue
        fixed, better = args.folder / f"bug{bug[1]}-{detector}.cu", apply(text, report)
        if better in repaired:
            continue
        repaired.add(better)
        fixed.write_text(better)
        for again, (status, after) in execute(args, fixed, kernel).items():
            if status != 0 or "no data races found" not in after:
                yield f"{detector}: after its advice, {again}: exit code {status}\n{report}\n{after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crsan", required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("compiler", nargs="+")
    args = parser.parse_args()
    text = args.source.read_text()
    bugs = list(BUG.finditer(text))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda bug: list(problems(args, text, bug)), bugs)
        for bug, wrong in zip(bugs, found):
            failed += bool(wrong)
            for why in wrong:
                print(f"bug {bug[1]} ({bug[3]}): {why}")
    print(f"{len(bugs) - failed} passed, {failed} failed")
    return 1 if failed or len(bugs) != 13 else 0


if __name__ == "__main__":
    raise SystemExit(main())
