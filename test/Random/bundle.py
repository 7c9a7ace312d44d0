# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds random kernels, native and instrumented, into a folder that runs anywhere
(scripts/gpu-bundle --random; the folder's own script is bundle-run).

A file of 25 kernels is one program in each mode, at one level of optimisation. Which
kernels are free of races the oracle says, of the native program on the simulated GPU.
What is up to date is not built again, so that a build that was interrupted goes on.
"""
import concurrent.futures
import hashlib
import json
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import generate
import harness
import nvcc_words
import precompiled

HERE = Path(__file__).resolve().parent
LEVELS = ["-O1", "-O2", "-O3"]
BATCH = 25
LIMIT = 120  # Seconds for a program under the oracle; most take one.
SCHEDULES = [("random", 1), ("pct", 2), ("roundrobin", 3)]
FLAGS = ["-std=c++17", "--cuda-gpu-arch=sm_90"]
CLANG_FLAGS = ["-g0", "-Xcuda-fatbinary", "--compress=false"]


def numbers_of(seed, racy, count):
    """The first kernels of a seed that have weak spots, or the first that have none."""
    numbers, number = [], 0
    while len(numbers) < count:
        if (generate.kernel_of(seed, number).weaknesses > 0) == racy:
            numbers.append(number)
        number += 1
    return numbers


class Source:
    """A file of kernels: either all free of races, or all with weak spots."""

    def __init__(self, index, seed, racy, count):
        self.seed, self.racy = seed, racy
        self.level = LEVELS[index % len(LEVELS)]
        self.name = f"{'racy' if racy else 'free'}-{seed}{self.level}"
        self.numbers = numbers_of(seed, racy, count)
        self.text = generate.render(seed, self.numbers)


def sources(total, seed):
    """`total` race-free kernels, and a tenth as many with weak spots."""
    for racy, left in (False, total), (True, max(total // 10, 1)):
        index = 0
        while left > 0:
            yield Source(index, seed, racy, min(left, BATCH))
            left -= BATCH
            seed, index = seed + 1, index + 1


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


class Builder:
    """Compiles and classifies files, and remembers what it has done in DIR/state."""

    def __init__(self, args, wrapper, directory, modes):
        self.args, self.wrapper, self.directory = args, wrapper, directory
        self.modes = modes
        self.tools = harness.Tools(args.build / "bin" / "crsan", Path(wrapper[0]))
        self.state = directory / "state"
        self.lock = threading.Lock()
        self.done, self.complaints = 0, []
        parts = [Path(shutil.which(wrapper[0]) or wrapper[0]).resolve(),
                 args.build / "bin" / "crsan-ptxas"]
        parts += [args.build / "lib" / name for name in
                  ("libCRSanPass.so", "libcrsan_host.a", "libcrsan_wrappers.a")]
        self.made = digest(*(f"{p} {p.stat().st_mtime_ns}" for p in parts if p.exists()))
        needs_no_assembler = args.simulated and args.compiler == "clang"
        self.shortcuts = precompiled.NoAssembler(
            args.build / "precompiled", args.cuda_path).flags(()) if needs_no_assembler else []
        for folder in "bin", "state":
            (directory / folder).mkdir(parents=True, exist_ok=True)

    def command(self, source, mode):
        """Native programs are of the same compiler, so that they differ in the checks alone."""
        cuda = self.args.cuda_path
        checks = ["-fsanitize=cuda-race", f"-fsanitize-cuda-race-mode={mode}"]
        files = [str(self.state / f"{source.name}.cu"), "-o",
                 str(self.directory / "bin" / f"{source.name}.{mode}"), f"-L{cuda}/lib64",
                 "-Wl,-rpath,$ORIGIN", "-ldl", "-lrt", "-lpthread"]
        if self.args.compiler == "nvcc":
            words = [*FLAGS, source.level, *(checks if mode != "native" else []), *files]
            return [*self.wrapper, *nvcc_words.translate(words), "-cudart=shared"]
        if mode == "native":
            # The oracle needs PTX. nvcc knows what this header adds to clang.
            words = ["--cuda-include-ptx=all",
                     "-include", self.args.build / "include/crsan/cuda_compat.h",
                     "-isystem", self.args.build / "include",
                     "-isystem", Path(cuda, "include/cccl")]
        else:
            words = [*checks, "-fsanitize-cuda-race-host"]
            words += [] if self.args.simulated else ["--no-cuda-include-ptx=all"]
        return [*self.wrapper, *map(str, words), *FLAGS, *CLANG_FLAGS, *self.shortcuts,
                source.level, f"--cuda-path={cuda}", *files, "-lcudart"]

    def compile(self, source, mode):
        """Whether the program is there."""
        words = self.command(source, mode)
        output = self.directory / "bin" / f"{source.name}.{mode}"
        record = self.state / f"{output.name}.key"
        key = digest(source.text, *words, "" if mode == "native" else self.made)
        if output.exists() and record.exists() and record.read_text() == key:
            return True
        record.unlink(missing_ok=True)
        ran = subprocess.run(words, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if ran.returncode != 0:
            output.unlink(missing_ok=True)
            self.complain(f"{output.name}: does not build\n{shlex.join(words)}\n{ran.stdout}")
            return False
        record.write_text(key)
        return True

    def complain(self, text):
        with self.lock:
            self.complaints.append(text)
            print(text, file=sys.stderr)

    def classify(self, source):
        """What the oracle says of the kernels: {"racy": numbers, "broken": {number: why},
        "results": {number: hash}}, the last of race-free repeatable ones."""
        record = self.state / f"{source.name}.json"
        key = digest((self.state / f"{source.name}.native.key").read_text(), SCHEDULES)
        if record.exists() and (known := json.loads(record.read_text()))["key"] == key:
            return known
        racy, broken, values = set(), {}, {}
        for schedule in SCHEDULES:
            for number, outcome in self.outcomes(source, schedule):
                if outcome.fault:
                    broken[number] = outcome.fault
                if outcome.races[number]:
                    racy.add(number)
                is_repeatable, value = outcome.results.get(number, (False, ""))
                if is_repeatable:
                    values.setdefault(number, set()).add(value)
        for number, seen in values.items():
            if number not in racy and len(seen) > 1:
                broken[number] = "its result depends on the schedule"
        known = {"key": key, "racy": sorted(racy), "broken": broken,
                 "results": {n: min(seen) for n, seen in values.items()
                             if n not in racy and n not in broken}}
        record.write_text(json.dumps(known))
        return json.loads(record.read_text())

    def outcomes(self, source, schedule):
        """One run's outcome for each kernel; after a fault, each kernel by itself."""
        binary = self.directory / "bin" / f"{source.name}.native"
        text = self.state / f"{source.name}.cu"
        options = harness.options_of(*schedule, "oracle")
        outcome = harness.execute(self.tools, binary, text, options, timeout=LIMIT)
        if not outcome.fault:
            return [(number, outcome) for number in source.numbers]
        return [(number, harness.execute(self.tools, binary, text, options, [str(number)], LIMIT))
                for number in source.numbers]

    def build(self, source):
        """What the runner must know about the file; nothing if it is not there."""
        path = self.state / f"{source.name}.cu"
        if not path.exists() or path.read_text() != source.text:
            path.write_text(source.text)
        if not self.compile(source, "native"):
            return None
        known = self.classify(source)
        for number, why in known["broken"].items():
            self.complain(f"{source.name}: kernel {number}: {why}")
        if not source.racy and known["racy"]:
            print(f"note: {source.name}: the oracle calls kernels {known['racy']} racy, which were "
                  "meant to be free of races; they are not judged", file=sys.stderr)
        modes = [mode for mode in self.modes if self.compile(source, mode)]
        with self.lock:
            self.done += 1
            print(f"{source.name}: built ({self.done})", file=sys.stderr, flush=True)
        return {"file": source.name, "racy": source.racy, "kernels": source.numbers,
                "modes": modes, "known_racy": known["racy"],
                "broken": [int(number) for number in known["broken"]],
                "results": known["results"]}


def pack(directory):
    """DIR.tar.xz: what the machine with the GPU needs, debug information left out."""
    library = directory / "bin" / "libcrsan.so"
    if strip := shutil.which("strip") or shutil.which("llvm-strip-22"):
        subprocess.run([strip, "--strip-debug", library], check=True)
    packed = directory.with_name(f"{directory.name}.tar.xz")
    with tarfile.open(packed, "w:xz", preset=6) as file:
        file.add(directory, directory.name,
                 filter=lambda item: None if item.name.endswith("/state") else item)
    print(f"{packed}: {packed.stat().st_size / 2**20:.1f} MiB")


def build(args, wrapper, directory, modes):
    """Fills the folder; gives back the programs' names, and what is wrong."""
    builder = Builder(args, wrapper, directory, modes)
    wanted = list(sources(args.random, args.seed))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        files = [known for known in pool.map(builder.build, wanted) if known]
    (directory / "kernels.json").write_text(json.dumps(
        {"modes": modes, "simulated": args.simulated, "files": files}, indent=1))
    shutil.copy2(HERE / "bundle-run", directory / "run")
    if args.pack:
        pack(directory)
    free = sum(len(set(f["kernels"]) - set(f["known_racy"]) - set(f["broken"]))
               for f in files if not f["racy"])
    racy = sum(len(f["known_racy"]) for f in files)
    repeatable = sum(len(f["results"]) for f in files if not f["racy"])
    print(f"{free} race-free kernels ({repeatable} of one result), {racy} racy ones")
    return {f"{f['file']}.{mode}" for f in files for mode in ["native", *f["modes"]]}, \
        builder.complaints
