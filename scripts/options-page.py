#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of docs/options.md, made from the table of run-time options.

    options-page.py ROOT           fail if the page differs from the options, or
                                   lacks a variable of the environment
    options-page.py --write ROOT   rewrite the page's tables of options
"""

import pathlib
import re
import sys

TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
SIMULATED = "simulated GPU: "
# A name that is given to getenv, or one of CRSan's own in a constant.
VARIABLE = re.compile(r'(?:getenv|GetEnv)\("([A-Z0-9_]+)"\)|"(CRSAN_[A-Z0-9_]+)"')


def options(source):
    """(name, default, description) of each option."""
    for entry in re.finditer(r"^CRSAN_(\w+)\(\s*(\w+),(.*?)\)\n(?=CRSAN_|//|\n|\Z)", source, re.S | re.M):
        kind, name, rest = entry.groups()
        words = [t.replace('\\"', '"') for t in TEXT.findall(rest)]
        first = rest.split(",")[0].strip()
        if kind == "BOOL":
            default = "1" if first == "true" else "0"
            description = "".join(words)
        elif kind == "UINT":
            default = first
            description = "".join(words)
        elif kind == "STRING":
            default = words[0]
            description = "".join(words[1:])
        else:
            default = words[0]
            description = "".join(words[2:]) + "; one of " + ", ".join(
                f"`{c}`" for c in words[1].split("|"))
        yield name.rstrip("_"), default, description


def table(rows):
    lines = ["| option | default | meaning |", "|--------|---------|---------|"]
    for name, default, description in rows:
        shown = f"`{default}`" if default else ""
        lines.append(f"| `{name}` | {shown} | {description.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def page(text, source):
    every = list(options(source))
    ours = [o for o in every if not o[2].startswith(SIMULATED)]
    simulated = [(n, d, t[len(SIMULATED):]) for n, d, t in every if t.startswith(SIMULATED)]
    for name, rows in (("all", ours), ("simulated", simulated)):
        begin, end = f"<!-- {name}: scripts/options-page.py -->\n", f"<!-- end of {name} -->"
        head, rest = text.split(begin)
        text = head + begin + table(rows) + end + rest.split(end, 1)[1]
    return text


def variables(root):
    """The environment's variables that the tools and the libraries read."""
    for folder in ("lib", "runtime", "tools"):
        for file in (root / folder).rglob("*.c*"):
            for match in VARIABLE.finditer(file.read_text()):
                yield match[1] or match[2]


def main(words):
    root = pathlib.Path(words[-1])
    path = root / "docs/options.md"
    old = path.read_text()
    new = page(old, (root / "runtime/inject/common/Flags.inc").read_text())
    if words[0] == "--write":
        path.write_text(new)
    elif old != new:
        sys.exit("docs/options.md differs from Flags.inc: scripts/options-page.py --write .")
    missing = sorted(v for v in set(variables(root)) if f"`{v}`" not in new)
    if missing:
        sys.exit("docs/options.md says nothing of the variables " + ", ".join(missing))


if __name__ == "__main__":
    main(sys.argv[1:])
