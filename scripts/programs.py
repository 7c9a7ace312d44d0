# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test programs: what the comments of a source in test/Programs ask for.

test/Programs/README.md says what each comment means.
"""
import fnmatch
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import precompiled

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "test" / "Programs"
SUBJECTS = sorted(folder.name for folder in TESTS.iterdir() if folder.is_dir())
# What -fsanitize=cuda-race needs besides to instrument for a mode.
MODES = {"collider": [], "metadata": ["-fsanitize-cuda-race-mode=metadata"],
         "hybrid": ["-fsanitize-cuda-race-mode=hybrid"]}
# Without instrumentation, but with the same headers.
NATIVE = ["-Wno-unknown-cuda-version", "--cuda-include-ptx=all", "-include",
          str(ROOT / "include/crsan/cuda_compat.h")]
DIRECTIVES = {"CLEAN-ONLY", "RACY-ONLY", "SEEDS", "BUILD", "ALSO", "ARCH", "EXIT", "SIGNAL",
              "SEND", "EXPECT", "EXPECT-GPU", "LINELESS", "RACY", "FIXED", "OPTIONS",
              "GPU-ONLY", "SIM-ONLY", "ALONE", "APART", "ALSO-GPU", "UNSEEN", "UNSEEN-GPU",
              "TOO-SLOW"}
MARK = re.compile(r"// RACE(?:: ([a-z0-9* -]+))?$")
# Detectors, variants (all, if none are named) and the reason.
EXCEPTION = re.compile(r"([a-z]+(?: [a-z]+)*)(?: \(([a-z0-9* -]+)\))?: \S")


def fail(message):
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


class Variant(NamedTuple):
    """One way to build a program."""
    name: str
    racy: bool
    flags: list


class Program:
    """One source file and what its comments ask for."""

    def __init__(self, source):
        self.source, self.folder = source, source.parent
        self.name, self.subject = source.stem, source.parent.name
        text = source.read_text()
        self.directives = re.findall(r"^// ([A-Z][A-Z-]+)(?:: (.*))?$", text, re.M)
        for key, _ in self.directives:
            if key not in DIRECTIVES:
                fail(f"{source}: unknown directive {key}; known are {sorted(DIRECTIVES)}")
        self.build = shlex.split(" ".join(self.values("BUILD")))
        self.sources = [source] + [self.folder / w for w in self.build if w.endswith(".cu")]
        self.apart = [shlex.split(value) for value in self.values("APART")]
        self.variants = list(self.read_variants())
        headers = [self.folder / h for h in re.findall(r'^#include "([^"]+)"$', text, re.M)]
        self.headers = precompiled.needed(p.read_text() for p in self.sources + headers)
        self.marks = []  # (file:line, globs of the variants in which it races)
        for path in self.sources + headers:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if mark := MARK.search(line.rstrip()):
                    self.marks.append((f"{path.name}:{number}", (mark[1] or "*").split()))
        if not text.startswith("// Intent: "):
            fail(f"{source}: must open with '// Intent: '")
        racy = [v.name for v in self.variants if v.racy]
        vain = [line for line, globs in self.marks if line.startswith(f"{source.name}:")
                and not any(fnmatch.filter(racy, glob) for glob in globs)]
        if vain or not all(map(self.races, racy)):
            fail(f"{source}: a racy variant and '// RACE' lines belong together {vain or ''}")

    def read_variants(self):
        """The variants of its RACY and FIXED lines; without these, one of each."""
        for key, value in self.directives:
            if key in ("RACY", "FIXED"):
                name, *flags = shlex.split(value)
                yield Variant(name, key == "RACY", flags)
        if not self.values("RACY") + self.values("FIXED"):
            for name in ("racy", "fixed"):
                if self.has(name):
                    yield Variant(name, name == "racy", [])

    def races(self, variant):
        """The marked lines of a racy variant."""
        return [line for line, globs in self.marks
                if any(fnmatch.fnmatch(variant, glob) for glob in globs)]

    def values(self, key):
        return [value for k, value in self.directives if k == key]

    def excepted(self, key, variant):
        """The detectors that the lines of a key (UNSEEN...) name for a variant."""
        detectors = set()
        for value in self.values(key):
            match = EXCEPTION.match(value) or fail(
                f"{self.source}: write '// {key}: DETECTOR... [(VARIANT...)]: WHY'")
            if any(fnmatch.fnmatch(variant, glob) for glob in (match[2] or "*").split()):
                detectors.update(match[1].split())
        if not detectors <= {*MODES, "oracle"}:
            fail(f"{self.source}: {key}: no detector is called so: {sorted(detectors)}")
        return sorted(detectors)

    def value(self, key, default=None):
        return (self.values(key) or [default])[0]

    def has(self, variant):
        return not self.values("CLEAN-ONLY" if variant == "racy" else "RACY-ONLY")

    def cases(self, simulated=False):
        """One test case for each variant and each set of flags."""
        also = [] if simulated else self.values("ALSO-GPU")
        for flags in ["-O2"] + self.values("ALSO") + also:
            suffix = "" if flags == "-O2" else re.sub(r"[^A-Za-z0-9]+", "-", flags)
            for variant in self.variants:
                yield Case(self, variant, flags, suffix)


class Case:
    def __init__(self, program, variant, flags, suffix):
        self.program, self.variant = program, variant
        self.flags = shlex.split(flags)
        self.binary = f"{program.name}{suffix}.{variant.name}"

    def language(self, cuda, mode):
        """The flags that say what the sources mean and how to compile them."""
        words = ["-std=c++17", "--cuda-gpu-arch=sm_90", f"--cuda-path={cuda}"]
        words += ([*NATIVE, f"-I{cuda}/include/cccl", f"-I{ROOT / 'include'}"] if mode == "native"
                  else ["-fsanitize=cuda-race", *MODES[mode]])
        words += ["-DRACY=1"] if self.variant.racy else []
        words += [w for w in self.program.build if not w.endswith(".cu")]
        return [*words, *self.variant.flags, *self.flags]

    def command(self, wrapper, cuda, output, mode="collider"):
        words = [*wrapper, *self.language(cuda, mode), *map(str, self.program.sources),
                 "-o", str(output), f"-L{cuda}/lib64"]
        if "-lcudart_static" not in self.flags:
            words += ["-lcudart", "-Wl,-rpath,$ORIGIN"]
        words += [str(self.object(apart[0], output)) for apart in self.program.apart]
        return words + ["-ldl", "-lrt", "-lpthread"]

    def object(self, source, output):
        return output.parent.parent / "objects" / f"{output.name}.{Path(source).stem}.o"

    def commands_apart(self, wrapper, cuda, output):
        """For the sources that are compiled with their own flags alone."""
        for source, *flags in self.program.apart:
            yield [*wrapper, "-std=c++17", "-O2", "--cuda-gpu-arch=sm_90",
                   f"--cuda-path={cuda}", *flags, "-c", str(self.program.folder / source),
                   "-o", str(self.object(source, output))]

    def expectations(self, mode="collider"):
        """One for each set of options that the program is to run with."""
        for options in self.program.values("OPTIONS") or [""]:
            yield {**self.expectation(mode), "options": options}

    def expectation(self, mode="collider"):
        program, racy = self.program, self.variant.racy
        ending = program.subject == "endings"
        seeds = program.value("SEEDS")
        return {
            "binary": self.binary, "program": program.name, "variant": self.variant.name,
            "mode": mode, "flags": " ".join(self.flags),
            "races": program.races(self.variant.name) if racy else [],
            "gpu_only": bool(program.values("GPU-ONLY")),
            "alone": bool(program.values("ALONE")),
            "lineless": racy and bool(program.values("LINELESS")),
            "seeds": int(seeds) if seeds and racy else None,
            "unseen": program.excepted("UNSEEN", self.variant.name),
            "unseen_gpu": program.excepted("UNSEEN-GPU", self.variant.name),
            "too_slow": program.excepted("TOO-SLOW", self.variant.name),
            "exit": int(program.value("EXIT", 66 if racy else 0)),
            "signal": program.value("SIGNAL"), "send": program.value("SEND"),
            "expect": program.values("EXPECT"), "expect_gpu": program.values("EXPECT-GPU"),
            "last_line": None if ending else "DONE" if racy else "PASS",
        }


def programs(only=None, subjects=None):
    """All programs of some subjects (all) whose names match one of some globs (all)."""
    found = {}
    for source in sorted(TESTS.glob("*/*.cu")):
        if source.stem in found:
            fail(f"{source} and {found[source.stem].source}: give each program its own name")
        found[source.stem] = Program(source)
    chosen = [p for p in found.values()
              if (not subjects or p.subject in subjects)
              and (not only or any(fnmatch.fnmatch(p.name, glob) for glob in only))]
    return chosen or fail(f"no program matches {only}")
