#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of nvcc's options in docs/clang-vs-nvcc.md, made from the driver's table.

    nvcc-options-page.py ROOT           fail if the page differs from the options
    nvcc-options-page.py --write ROOT   rewrite the page's table
    nvcc-options-page.py --help-of NVCC ROOT
                                        fail if NVCC's help has an option that the
                                        table lacks or that takes its value otherwise
"""

import pathlib
import re
import subprocess
import sys

ENTRY = re.compile(r"^NVCC_(WRITE|SWITCH|DROP|REFUSE|RULE)\((.*?)\)\n(?=NVCC_|//|\n|\Z)", re.S | re.M)
PART = re.compile(r'((?:"(?:[^"\\]|\\.)*"\s*)+|[A-Za-z]\w*)(?:,|\s*\Z)')
BEGIN, END = "<!-- nvcc: scripts/nvcc-options-page.py -->\n", "<!-- end of nvcc -->"
# --name  (-short), and the value between them.
HELP = re.compile(r"^(--[\w-]+)(?: (\S.*?))?\s+\(?(-[\w-]+)\)?\s*$", re.M)

WITHOUT_VALUE_IN_HELP = ("--qpp-config", "--dependency-output")


def text(part):
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', part)
    return "".join(strings).replace('\\"', '"') if '"' in part else part.strip()


def options(source):
    """(kind, long, short, value, rest) of each option."""
    for kind, arguments in ENTRY.findall(source[source.index("#endif\n\n//"):]):
        long, short, *rest = [text(part) for part in PART.findall(arguments)]
        value = "One" if kind == "SWITCH" else rest.pop(0)
        yield kind, long, short, value, rest


def code(words):
    return f"`{words}`" if words else "nothing"


def meaning(kind, rest):
    if kind == "WRITE":
        return code(rest[0].replace("$", "X"))
    if kind == "SWITCH":
        return f"`true`: {code(rest[0])}; `false`: {code(rest[1])}"
    if kind == "DROP":
        return "nothing: " + rest[0]
    if kind == "REFUSE":
        return "an error: " + rest[0]
    return rest[1]


def table(source):
    lines = ["| nvcc | clang |", "|------|-------|"]
    for kind, long, short, value, rest in options(source):
        names = ", ".join(f"`{name}`" for name in dict.fromkeys((short, long)) if name)
        shown = meaning(kind, rest)
        if kind == "WRITE" and shown == code((short + " X") if value != "None" else short):
            shown = "the same"
        elif kind == "WRITE" and shown == code(short + "X"):
            shown = "the same"
        lines.append(f"| {names} | {shown} |")
    return "\n".join(lines) + "\n"


def page(old, source):
    head, rest = old.split(BEGIN)
    return head + BEGIN + table(source) + END + rest.split(END, 1)[1]


def values(description):
    if not description:
        return {"None"}
    return {"List"} if description.endswith(",...") else {"One", "List"}


def check_help(nvcc, source):
    known = {long: (short, value) for _, long, short, value, _ in options(source)}
    text = subprocess.run([nvcc, "--help"], capture_output=True, text=True, check=True).stdout
    found = HELP.findall(text)
    if len(found) < 100:
        sys.exit(f"{nvcc} --help has only {len(found)} options: is its form another one?")
    for long, description, short in found:
        if long in WITHOUT_VALUE_IN_HELP:
            description = "<value>"
        if long not in known:
            sys.exit(f"NvccOptions.def lacks nvcc's {long} ({short})")
        if short != long and known[long][0] != short:
            sys.exit(f"NvccOptions.def: {long} is {short} for nvcc")
        if known[long][1] not in values(description):
            sys.exit(f"NvccOptions.def: {long} has the value '{description}' for nvcc")


def main(words):
    root = pathlib.Path(words[-1])
    source = (root / "lib/Driver/NvccOptions.def").read_text()
    path = root / "docs/clang-vs-nvcc.md"
    if words[0] == "--help-of":
        return check_help(words[1], source)
    old = path.read_text()
    new = page(old, source)
    if words[0] == "--write":
        path.write_text(new)
    elif old != new:
        sys.exit("docs/clang-vs-nvcc.md differs from NvccOptions.def: "
                 "scripts/nvcc-options-page.py --write .")


if __name__ == "__main__":
    main(sys.argv[1:])
