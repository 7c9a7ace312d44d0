# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the PTX of the kernels in kernels/, and of their racy twins.

    generate.py [--opt OPT] [--llc LLC] [--ptxas PTXAS] DIRECTORY [NAME...]

With --ptxas, each file is assembled for its own architecture and for sm_90.

A file of kernels/ has one function whose name ends in `_kernel`, whose annotations are the
types of the kernel's arguments. Where it asks `k.racy`, it has a twin, NAME-racy.ptx.
Its locations have the form of locations.py that DIRECTIVES says.
"""

import argparse
import importlib
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import ir
import language
import locations

sys.path.insert(0, ir.KERNELS)
TYPES = {"f32": "float", "f16": "half", "bf16": "bfloat"}


def parameters(k, function):
    """The declarations of the parameters in IR, and the values that the kernel gets."""
    declared, values = [], []
    for name, type in function.__annotations__.items():
        if type == "descriptor":
            declared.append(f'ptr byval([128 x i8]) align 64 "nvvm.grid_constant" %{name}')
            values.append(ir.Value(k, f"%{name}", "ptr"))
        elif type[0] == "*":
            declared.append(f"{ir.GLOBAL} %{name}")
            element = TYPES.get(type[1:], type[1:])
            values.append(ir.Value(k, f"%{name}", ir.GLOBAL, element))
        else:
            declared.append(f"{TYPES.get(type, type)} %{name}")
            values.append(ir.Value(k, f"%{name}", TYPES.get(type, type)))
    # Memory that Triton allocates for a launch: for a kernel's own use, and for its profiler.
    scratch = [f"{ir.GLOBAL} %{name}" for name in ("global_scratch", "profile_scratch")]
    return declared + scratch, values


def target_of(module):
    return getattr(module, "TARGET", "sm_80")


def ptx(module, racy, tools):
    function = next(f for name, f in vars(module).items() if name.endswith("_kernel"))
    k = language.Kernel(function.__name__, function, getattr(module, "THREADS", 128), racy)
    declared, values = parameters(k, function)
    function(k, *values)
    optimised = subprocess.run([tools.opt, "-O3", "-S"], input=k.text(declared), text=True,
                               capture_output=True)
    if optimised.returncode:
        raise SystemExit(f"{module.__name__}: {optimised.stderr}\n{k.text(declared)}")
    text = subprocess.run([tools.llc, "-O3", f"-mcpu={target_of(module)}", "-mattr=+ptx87",
                           "--nvptx-short-ptr"],
                          input=optimised.stdout, text=True, capture_output=True, check=True).stdout
    # As Triton does: a kernel for debuggers would not be optimised by ptxas.
    text = re.sub(r"(\.target \w+), debug", r"\1", text)
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    if getattr(module, "DIRECTIVES", False):
        text = locations.with_directives(text, k.debug.functions)
    return text


def assemble(ptxas, path, target):
    for arch in sorted({target, "sm_90"}):
        subprocess.run([ptxas, f"-arch={arch}", path, "-o", "/dev/null"], check=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--opt", default="opt-22")
    options.add_argument("--llc", default="llc-22")
    options.add_argument("--ptxas")
    options.add_argument("directory", type=pathlib.Path)
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(pathlib.Path(ir.KERNELS).glob("*.py")):
        if source.stem == "standard" or options.names and source.stem not in options.names:
            continue
        module = importlib.import_module(source.stem)
        has_twin = "k.racy" in source.read_text()
        for racy in [False, True][:1 + has_twin]:
            name = source.stem + ("-racy" if racy else "")
            path = options.directory / f"{name}.ptx"
            path.write_text(ptx(module, racy, options))
            if options.ptxas:
                assemble(options.ptxas, path, target_of(module))


if __name__ == "__main__":
    main()
