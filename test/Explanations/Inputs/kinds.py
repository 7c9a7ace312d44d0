# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs the programs of `crsan explain` on the simulated GPU.

  kinds.py CRSAN CRSAN-CLANG++ FOLDER PAGES [--write]

A program that races is found with its kind in some of the runs; one without the
race is silent, for the same detector and for the oracle. PAGES is docs/kinds: a page for each kind,
of what `crsan explain` says and the report of the first run that finds it.
"""
import os
import re
import subprocess
import sys

SEEDS = 12
crsan, compiler, folder, pages = map(os.path.abspath, sys.argv[1:5])
writes = sys.argv[5:] == ["--write"]


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(kind, which, flags):
    source = os.path.join(folder, f"{kind}-{which}.cu")
    with open(source, "w") as file:
        file.write(output(crsan, "explain", kind, f"--{which}"))
    program = source.removesuffix(".cu")
    subprocess.run([compiler, "-fsanitize=cuda-race", *flags, "-O1",
                    os.path.basename(source), "-o", program], check=True, cwd=folder)
    return program


def found(program, detector, seed):
    """The exit status and the report."""
    run = subprocess.run([crsan, "run", "--device=sim", f"--detector={detector}", f"--seed={seed}", program],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=100, cwd=folder,
                         env={**os.environ, "CRSAN_OPTIONS": f"strip_path_prefix={folder}/"})
    return run.returncode, run.stdout


def page(key, detector, report):
    """The guide with the report behind its first program."""
    guide = output(crsan, "explain", key, "--markdown")
    title, text = guide.split("\n", 1)
    racy, fixed = text.split("```\n", 1)
    mode = "`crsan run --detector=oracle`" if detector == "oracle" else "`crsan run`"
    return (f"{title}\n\nThis page is for people whose report has a finding of this kind. "
            f"`crsan explain {key}`\nprints it, too.\n{racy}```\n\nThe report of {mode}:\n\n"
            f"```\n{report.rstrip().replace(folder, '.')}\n```\n{fixed}")


def withoutSchedule(text):
    """What does not depend on which instruction of which thread came first: every change of
    the emitted code is another schedule."""
    text = re.sub(r"block \(\d+,\d+,\d+\) thread \(\d+,\d+,\d+\)", "a thread", text)
    text = re.sub(r"address 0x[0-9a-f]+", "an address", text)
    text = re.sub(r"(checked|occurrences:) \d+", r"\1 N", text)
    return re.sub(r"seed=\d+", "seed=N", text)


def isFinding(name, report):
    """Whether a finding is of this kind, and not only seen as such, too."""
    return re.search(rf"^CRSan: (?:.*: )?{re.escape(name)}", report, re.M)


def compare(key, text):
    name = os.path.join(pages, key.replace("_", "-") + ".md")
    if writes:
        os.makedirs(pages, exist_ok=True)
        with open(name, "w") as file:
            file.write(text)
    elif not os.path.exists(name) or withoutSchedule(open(name).read()) != withoutSchedule(text):
        failures.append(f"{name} is not what the programs print now; "
                        "run this script with --write")


failures = []
kinds = [line.split(None, 1) for line in output(crsan, "explain").split("\n\n")[0].splitlines()]
assert len(kinds) >= 15
for key, name in kinds:
    text = output(crsan, "explain", key)
    mode = "metadata" if "Metadata mode reports" in text else "collider"
    flags = [f"-fsanitize-cuda-race-mode={mode}"]
    flags += [flag for flag in ["-fsanitize-cuda-race-host"] if flag in text]
    flags += ["--offload-arch=sm_90"] * ("cp.async.bulk" in text)  # What it needs.
    detector = "oracle" if "The oracle of" in text else "program"
    racy = build(key, "racy", flags)
    for seed in range(1, SEEDS + 1):
        status, report = found(racy, detector, seed)
        if status == (68 if key == "kernel_fault" else 66) and isFinding(name, report):
            compare(key, page(key, detector, report))
            break
    else:
        failures.append(f"{key}: not found: {report}")
    fixed = build(key, "fixed", flags)
    for each in {detector, "oracle"}:
        for seed in range(1, 3):
            status, report = found(fixed, each, seed)
            if status != 0:
                failures.append(f"{key}: fixed, seed {seed}, {each}: {report}")
print("\n".join(failures))
sys.exit(bool(failures))
