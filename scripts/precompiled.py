# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What many small CUDA programs need not compile again and again.

Most of the time that clang takes for a test program goes to the toolkit's headers,
once for the device and once for the host: Headers compiles these headers in advance.
The simulated GPU runs PTX and never machine code: NoAssembler stands in for ptxas.
"""
import fcntl
import hashlib
import subprocess
from pathlib import Path

HEADERS = ["check.h", "cooperative_groups.h", "cooperative_groups/memcpy_async.h",
           "cuda/atomic", "cuda/barrier", "cuda/pipeline"]
# Flags that make no difference to the headers. They look at no macro but RACY.
IRRELEVANT = ("-D", "-fsanitize-cuda-race-mode=", "-l")
EMPTY = ".version 7.8\n.target sm_90\n.address_size 64\n"


def key(words):
    """Those of a compilation's flags that make a difference to the headers."""
    return tuple(word for word in words
                 if word.startswith("-DRACY=") or not word.startswith(IRRELEVANT))


class Headers:
    """Precompiled headers in a folder that several bundles may share, one pair for
    each set of flags. They hold no code, so that a mode makes no difference."""

    def __init__(self, folder, wrapper, tests, newest):
        self.folder, self.wrapper, self.tests, self.newest = folder, wrapper, tests, newest

    def flags(self, words):
        """The words that make clang use them in a compilation with these flags."""
        words = key(words)
        made = self.folder / hashlib.sha256(" ".join([*words, *HEADERS]).encode()).hexdigest()[:16]
        made.mkdir(parents=True, exist_ok=True)
        source = made / "headers.h"
        with open(made / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not source.exists():
                source.write_text("".join(f'#include "{name}"\n' for name in HEADERS))
            for side in ("device", "host"):
                if not self.compile(words, source, side):
                    return []
        return [word for side in ("device", "host")
                for word in (f"-Xarch_{side}", f"-Wp,-include-pch,{made / side}.pch")]

    def compile(self, words, source, side):
        output = source.parent / f"{side}.pch"
        if output.exists() and output.stat().st_mtime > self.newest:
            return True
        command = [*self.wrapper, *words, f"-I{self.tests}", f"--cuda-{side}-only",
                   "-S" if side == "device" else "-c", "-x", "cuda", str(source),
                   "-Xclang", "-emit-pch", "-o", str(output)]
        return subprocess.run(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0


class NoAssembler:
    """Takes the place of ptxas: writes the same empty device image each time."""

    def __init__(self, folder, cuda):
        folder.mkdir(parents=True, exist_ok=True)
        self.script = folder / "no-assembler"
        with open(folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.script.exists():
                self.write(folder / "empty.cubin", folder / "empty.ptx", cuda)

    def write(self, image, ptx, cuda):
        ptx.write_text(EMPTY)
        subprocess.run([f"{cuda}/bin/ptxas", "-arch=sm_90", ptx, "-o", image], check=True)
        self.script.write_text(
            "#!/bin/sh\nwhile [ $# -gt 0 ]; do\n"
            f"  [ \"$1\" = --output-file ] && cp '{image}' \"$2\"\n  shift\ndone\n")
        self.script.chmod(0o755)

    def flags(self, words):
        """Relocatable code is linked by the toolkit, which needs the machine code."""
        return [] if "-fgpu-rdc" in words else [f"--ptxas-path={self.script}"]
