#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a page of docs/ and compares what they print.

    scripts/run-docs.py PAGE FOLDER     # FOLDER is made anew; the tools are taken from PATH

In a block marked `console`, `$ COMMAND` is run in FOLDER, and the lines below are what it
must print: `...` in a line stands for any text, and alone for any lines. `# exit code N` at
the end of a command says with what it must end; without it, with 0. Comments in front
of a block: `<!-- file: NAME -->` writes the block to a file before anything runs;
`<!-- replace in NAME: after line N -->` inserts the block there when its turn comes;
`<!-- needs: TOOL -->` leaves the block out, with a line that says so, where TOOL is missing.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]*) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def pattern(expected):
    """The regular expression for the lines that a command must print."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(map(re.escape, line.split("..."))) + r"\n")
    return re.compile("".join(parts))


def commands(text):
    """The commands of a block, each with its exit code and its expected lines."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            command, _, code = line[2:].partition("        # exit code ")
            found.append((command, int(code or 0), []))
        else:
            found[-1][2].append(line)
    return found


def run(command, code, expected, folder):
    ran = subprocess.run(command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=300)
    print(f"$ {command}\n{ran.stdout}", end="")
    if ran.returncode != code:
        sys.exit(f"exit code {ran.returncode}, the page says {code}")
    if expected and not pattern(expected).fullmatch(ran.stdout):
        sys.exit("the page says:\n" + "\n".join(expected))


def main(page, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    blocks = [(b["mark"] or "", b["kind"], b["text"]) for b in BLOCK.finditer(page.read_text())]
    for mark, _, text in blocks:
        if mark.startswith("file: "):
            (folder / mark.removeprefix("file: ")).write_text(text)
    ran = 0
    for mark, kind, text in blocks:
        if edit := re.fullmatch(r"replace in (\S+): after line (\d+)", mark):
            lines = (folder / edit[1]).read_text().splitlines(keepends=True)
            lines.insert(int(edit[2]), text)
            (folder / edit[1]).write_text("".join(lines))
        if kind != "console":
            continue
        tool = mark.removeprefix("needs: ") if mark.startswith("needs: ") else "sh"
        if not shutil.which(tool):
            print(f"left out, {tool} is missing:\n{text}")
            continue
        for command, code, expected in commands(text):
            run(command, code, expected, folder)
            ran += 1
    print(f"{page.name}: {ran} commands as the page says")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
