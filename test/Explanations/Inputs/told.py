# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with several seeds and looks for lines in each report.

  told.py SOURCE [--seeds N] [--options O] [--some] TEXT... -- COMMAND...

Each TEXT is a regular expression that some line has to match whole, in each
run (with --some: in at least one run); with `not:` in front, that none may.
`{name}` stands for the number of the line that ends in `// @name`. With
--clean the summary has to say that no race was found, and the exit status to
be 0; without it, it is 66.
"""
import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--options", default="verbosity=1")
parser.add_argument("--some", action="store_true")
parser.add_argument("--clean", action="store_true")
parser.add_argument("texts", nargs="*")
split = sys.argv.index("--")
args = parser.parse_intermixed_args(sys.argv[1:split])
command = sys.argv[split + 1:]

lines = {}
for number, line in enumerate(open(args.source), 1):
    if found := re.search(r"// @(\w+)\s*$", line):
        lines[found[1]] = str(number)
texts = [re.sub(r"\{([a-z]\w*)\}", lambda m: lines[m[1]], t) for t in args.texts]
wanted = [t for t in texts if not t.startswith("not:")]
refused = [t[4:] for t in texts if t.startswith("not:")]
missing = set(wanted)
for seed in range(1, args.seeds + 1):
    options = f"seed={seed}:verbosity=1:{args.options}"
    run = subprocess.run(command, env={**os.environ, "CRSAN_OPTIONS": options},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, timeout=100)
    has = {t for t in texts + refused
           if any(re.fullmatch(t, line.strip()) for line in run.stdout.splitlines())}
    missing -= has
    clean = "SUMMARY: CRSan: no data races found" in run.stdout.splitlines()
    lacks = [] if args.some or args.clean else sorted(set(wanted) - has)
    if lacks or has & set(refused) or (
            args.clean and not (clean and run.returncode == 0)) or (
            not args.clean and not args.some and run.returncode != 66):
        print(f"seed {seed}, exit status {run.returncode}, lacks {lacks}, "
              f"has {sorted(has & set(refused))}\n{run.stdout}")
        sys.exit(1)
if missing and not args.clean:
    print(f"in no run: {sorted(missing)}\n{run.stdout}")
    sys.exit(1)
