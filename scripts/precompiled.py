# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What many small CUDA programs need not compile again and again.

Most of the time that clang takes for a test program goes to the toolkit's headers,
once for the device and once for the host: Headers compiles these headers in advance.
The simulated GPU runs PTX and never machine code: NoAssembler stands in for ptxas.
"""
import fcntl
import hashlib
import os
import re
import subprocess
import threading
from pathlib import Path

USUAL = ["check.h"]
# To load these takes longer than to compile most programs, which have none of them.
LARGE = ["cooperative_groups.h", "cooperative_groups/memcpy_async.h", "cuda/atomic",
         "cuda/barrier", "cuda/pipeline"]
IS_LARGE = re.compile(r'^#include <(?:cooperative_groups|cuda/|cuda_pipeline)', re.M)
# Flags that make no difference to the headers. They look at no macro but RACY.
IRRELEVANT = ("-D", "-fsanitize-cuda-race-mode=", "-l")
EMPTY_IMAGE = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
  --gpu-name) arch=$2 ;;
  --output-file) output=$2 ;;
  esac
  shift
done
image='{folder}'/empty.$arch
[ -f "$image" ] || {{
  printf '.version 8.7\\n.target %s\\n.address_size 64\\n' "$arch" > "$image.$$" &&
    '{ptxas}' -arch="$arch" "$image.$$" -o "$image.$$.cubin" && mv "$image.$$.cubin" "$image"
  rm "$image.$$"
}} &&
cp "$image" "$output"
"""


def needed(texts):
    """Which headers sources of these texts may include."""
    return USUAL + (LARGE if any(map(IS_LARGE.search, texts)) else [])


def key(words):
    """Those of a compilation's flags that make a difference to the headers."""
    return tuple(word for word in words
                 if word.startswith("-DRACY=") or not word.startswith(IRRELEVANT))


class Headers:
    """Precompiled headers in a folder that several bundles may share, one pair for
    each set of flags and headers. They hold no code, so that a mode makes no
    difference."""

    def __init__(self, folder, wrapper, tests, newest):
        self.folder, self.wrapper, self.tests, self.newest = folder, wrapper, tests, newest

    def flags(self, words, headers):
        """The words that make clang use them in a compilation with these flags."""
        words = key(words)
        made = self.folder / hashlib.sha256(" ".join([*words, *headers]).encode()).hexdigest()[:16]
        made.mkdir(parents=True, exist_ok=True)
        source = made / "headers.h"
        with open(made / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not source.exists():
                source.write_text("".join(f'#include "{name}"\n' for name in headers))
            for side in ("device", "host"):
                if not self.compile(words, source, side):
                    return []
        return [word for side in ("device", "host")
                for word in (f"-Xarch_{side}", f"-Wp,-include-pch,{made / side}.pch")]

    def compile(self, words, source, side):
        output = source.parent / f"{side}.pch"
        if output.exists() and output.stat().st_mtime > self.newest:
            return True
        # Templates are instantiated here, and not in each program.
        command = [*self.wrapper, *words, f"-I{self.tests}", f"--cuda-{side}-only",
                   "-fpch-instantiate-templates", "-S" if side == "device" else "-c", "-x", "cuda", str(source),
                   "-Xclang", "-emit-pch", "-o", str(output)]
        return subprocess.run(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0


def write_script(path, text):
    """Writes a script that others may be executing: a file that is open for writing
    cannot be executed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text() == text:
        return
    new = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    new.write_text(text)
    new.chmod(0o755)
    new.rename(path)


class NoAssembler:
    """Takes the place of ptxas: gives out the same empty device image each time, of
    which each architecture has one."""

    def __init__(self, folder, cuda):
        self.script = folder / "no-assembler"
        write_script(self.script, EMPTY_IMAGE.format(folder=folder, ptxas=f"{cuda}/bin/ptxas"))

    def flags(self, words):
        """Relocatable code is linked by the toolkit, which needs the machine code."""
        return [] if "-fgpu-rdc" in words else [f"--ptxas-path={self.script}"]

    def compiler(self, wrapper):
        """The path of a script of the wrapper's name that compiles as the wrapper does."""
        script = self.script.parent / "bin" / Path(wrapper).name
        write_script(script, f"#!/bin/sh\nexec '{wrapper}' '--ptxas-path={self.script}' \"$@\"\n")
        return str(script)
