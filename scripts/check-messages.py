#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the messages that docs/troubleshooting.md quotes are those of the programs.

    check-messages.py ROOT     fail if a message's words are nowhere in the source

A message is the first cell of a row. `...` in it stands for what the program fills in, and
each part between two of them must be in a text of the source, or the parts of it that a colon
or a semicolon ends must be.
"""
import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"(?:\s|<<|,)*)+')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts(root):
    """The string literals of the source, those that follow each other as one,
    arguments of a function too."""
    for folder in ("lib", "runtime", "tools", "include"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".c", ".cpp", ".h", ".def", ".inc"):
                for match in LITERALS.finditer(file.read_text()):
                    yield "".join(LITERAL.findall(match[0])).replace('\\"', '"')


def main(root):
    every = "\n".join(texts(root))

    def is_said(part):
        return part.strip() in every or all(
            piece.strip() in every for piece in re.split(r"(?<=[:;]) ", part))

    page = (root / "docs/troubleshooting.md").read_text()
    messages = ROW.findall(page)
    if not messages:
        sys.exit("docs/troubleshooting.md has no row of a message")
    missing = [(message, part) for message in messages
               for part in message.replace("\\|", "|").split("...") if not is_said(part)]
    if missing:
        sys.exit("\n".join(f"docs/troubleshooting.md: no text of the source has '{part}' of '{message}'"
                           for message, part in missing))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
