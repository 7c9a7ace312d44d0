#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of Inputs/app.py natively, and with checks by crsan-ptxas in both modes.

    run.py DIR --bin FOLDER [--jobs N]

FOLDER holds crsan and crsan-ptxas. DIR gets Triton's caches, and the logs of runs that failed.
A line for each failure, and the sums, go to stdout.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

APP = Path(__file__).resolve().parent / "Inputs" / "app.py"
MODES = ["collider", "metadata"]
FRAME = re.compile(r"#\d+\s.*\sat (.+?):(\d+)(?::\d+)?\s*$")
CLEAN = "SUMMARY: CRSan: no data races found"
NOT_CHECKED = re.compile(r"^CRSan: .*(not instrumented|is not checked|not complete|dropped).*$", re.M)
# wgmma is not lifted (docs/nvcc.md).
MAY_BE_UNCHECKED = {"matmul_wgmma"}
# The count changes once, in the first block that has the lock.
MAY_BE_UNSEEN = {("collider", "uncounted_sum_racy")}


def accused(output):
    """The lines that findings name, as (file, line)."""
    return {(Path(m[1]).name, int(m[2])) for line in output.split("SUMMARY: CRSan")[0].splitlines()
            if (m := FRAME.search(line))}


def faults(name, mode, status, output, marks):
    """What is wrong with a run with checks."""
    if f"PASS {name}" not in output:
        yield "does not print PASS"
    if name in MAY_BE_UNCHECKED:
        if status not in (0, 67):
            yield f"exit status {status}"
        return
    if m := NOT_CHECKED.search(output):
        yield f"says: {m[0]}"
    lines = accused(output)
    if name.endswith("_racy"):
        is_missed = not lines and status == 0 and (mode, name) in MAY_BE_UNSEEN
        if not is_missed and (not lines & marks or status != 66):
            yield f"race not found, exit status {status}"
        return
    if lines:
        yield f"false accusation of {sorted(lines)}"
    if status != 0 or CLEAN not in output:
        yield f"exit status {status}, and no line that no data races were found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=Path)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--jobs", type=int, default=4)
    args = parser.parse_args()
    args.dir.mkdir(parents=True, exist_ok=True)
    text = APP.read_text()
    names = re.findall(r'"(\w+)"', text.split("NAMES = [")[1].split("]")[0])
    marks = {(APP.name, n) for n, line in enumerate(text.splitlines(), 1) if line.endswith("# RACE")}

    def run(job):
        name, mode = job
        command = [sys.executable, APP, name]
        environment = {**os.environ, "TRITON_CACHE_DIR": str(args.dir / f"cache-{mode}-{name}")}
        if mode != "native":
            command[:0] = [f"{args.bin}/crsan", "run", "--device=gpu"]
            environment |= {"TRITON_PTXAS_PATH": f"{args.bin}/crsan-ptxas", "CRSAN_PTXAS_MODE": mode,
                            "CRSAN_OPTIONS": "verbosity=1"}
        ran = subprocess.run(command, env=environment, text=True, errors="replace", timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if mode == "native":
            wrong = [] if ran.returncode == 0 and f"PASS {name}" in ran.stdout else ["fails"]
        else:
            wrong = list(faults(name, mode, ran.returncode, ran.stdout, marks))
        if wrong:
            (args.dir / f"{mode}-{name}.log").write_text(ran.stdout)
            print(f"{mode} {name}: {'; '.join(wrong)}", flush=True)
        return bool(wrong)

    jobs = [(name, mode) for name in names for mode in ["native", *MODES]]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        failed = sum(pool.map(run, jobs))
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
