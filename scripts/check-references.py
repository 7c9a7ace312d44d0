#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that what documentation and comments refer to exists.

    check-references.py ROOT          check the sources under ROOT
    check-references.py --self-test   check that this script finds bad references

Documentation: the targets and anchors of relative links; in code spans, the
files and folders, and the names that look like this project's (A::b, CamelCase,
function(), __crsan_x, CRSAN_X; in "`file` (`name`)" the file must have the name);
run-time options. Comments: the files that they name, and the
numbered rules of docs/soundness.md. Line numbers are no references, since they
change with every edit. What only might be a reference is left alone.
"""

import glob
import pathlib
import re
import sys
import tempfile

FOLDERS = ["benchmarks", "cmake", "docs", "examples", "include", "lib", "runtime",
           "scripts", "test", "tools", "unittests"]
COMMENTED = ["include", "lib", "runtime", "test", "tools", "unittests"]
SOURCE = {".c", ".cpp", ".cu", ".h", ".inc"}
SCRIPT = {".cmake", ".py", ".test", ".txt", ".in"}
RULES = "docs/soundness.md"

# A path from the root of the repository, `*` in it stands for anything.
PATH = re.compile(r"(?<![\w./%%:-])((?:%s)/[\w.+*/-]*[\w*])" % "|".join(FOLDERS))
# A file of this project without its folder: a capital, as in LLVM.
FILE = re.compile(r"(?<![\w./*-])([A-Z]\w*\.(?:h|cpp|inc))\b")
PAGE = re.compile(r"(?<![\w./-])(\w[\w-]*\.md)\b")
LINE = re.compile(r"([\w/.-]+\.(?:h|cpp|inc|md)):\d+")
RULE = re.compile(r"\b[Rr]ules? (\d+)(?:(?:, | and | or )(\d+))?")
# Names of this project's, and nothing that CUDA, LLVM or the standard has.
NAME = re.compile(r"[A-Za-z_]\w*")
OURS = re.compile(r"(?:abi|ptx|sim|crsan|[A-Z]\w*)::[\w:]+|[A-Z]+[a-z]+[A-Z]\w*|"
                  r"__crsan_\w+|CRSAN_\w+|[a-z]+[A-Z]\w*|[a-z][A-Za-z_]\w*\(\)")
# `file` (`Name`, `Name`): these names are in that file.
OWNER = re.compile(r"`([\w./]+)` \(((?:`[\w:]+`(?:, )?)+)\)")
# `CRSAN_OPTIONS=name=value:name=value`, and the table of these names.
OPTIONS = re.compile(r"CRSAN_OPTIONS=(\w+=[\w./:=]*)")
OPTION = re.compile(r"^CRSAN_(?:BOOL|UINT|STRING|CHOICE)\(\s*(\w+?)_?,", re.M)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Names that the projects outside this one own.
FOREIGN = re.compile(r"(std|llvm|cuda|cub|cg|thrust|cooperative_groups)::|cu[A-Z]|cuda[A-Z]|nv")


class Tree:
    """The files of the repository, and the words of its sources."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = [p for top in FOLDERS for p in (self.root / top).rglob("*")
                      if p.is_file() and "__pycache__" not in p.parts]
        self.files += [p for p in self.root.iterdir() if p.is_file()]
        self.names = {p.name for p in self.files}
        self.words = set()
        self.options = set()
        for p in self.files:
            if p.name == "CMakeLists.txt":  # The build makes files, too.
                self.names.update(FILE.findall(code(p, self.text(p))))
            if p.name == "Flags.inc":
                self.options.update(OPTION.findall(self.text(p)))
            if p.suffix != ".md" and p.name != "check-references.py":
                self.words.update(NAME.findall(code(p, self.text(p))))
        rules = self.root / RULES
        self.rules = set(re.findall(r"^(\d+)\. ", self.text(rules), re.M)) if rules.exists() else set()

    @staticmethod
    def text(path):
        return path.read_text(encoding="utf-8", errors="replace")

    def has_path(self, path, base):
        """Whether `path` is there, from the root or from the folder `base`."""
        return re.search(r"\.(so|a)\b", path) or any(glob.glob(str(folder / path.rstrip("/"))) or
                   # A file without its suffix.
                   glob.glob(str(folder / path.rstrip("/")) + ".*")
                   for folder in (self.root, base))

    def has_name(self, name):
        return all(word in self.words for word in NAME.findall(name))


def code(path, text):
    """The text of a source without its comments."""
    return re.sub(r"//.*" if path.suffix in SOURCE else r"(?m)^\s*#.*", "", text)


def anchors(text):
    """The anchors that the headings of a page have, as GitHub makes them."""
    found = set()
    for title in re.findall(r"^#+ +(.*?) *$", without_blocks(text), re.M):
        title = re.sub(r"[^\w\- ]", "", LINK.sub(r"\1", title).replace("`", "").lower())
        found.add(title.replace(" ", "-"))
    return found


def without_blocks(text):
    """The text with blocks of code made empty, so that lines keep numbers."""
    lines, fenced, before = [], False, ""
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith("```")
        fenced ^= is_fence
        is_block = line.startswith("    ") and (not before.strip() or before is BLOCK)
        before = BLOCK if is_block else line
        lines.append("" if fenced or is_fence or is_block else line)
    return "\n".join(lines)


BLOCK = " block"


def check_files(tree, text, base):
    for path in PATH.findall(text):
        if not tree.has_path(path, base):
            yield f"no such file: {path}"
    for name in FILE.findall(text):
        if name not in tree.names:
            yield f"no such file: {name}"
    for name in LINE.findall(text):
        if pathlib.PurePath(name).name in tree.names:
            yield f"a line number is no reference: {name}"


def check_page(tree, page):
    text = without_blocks(tree.text(page))
    for number, line in enumerate(text.split("\n"), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            goal = page.parent / file if file else page
            if not goal.exists():
                yield number, f"no such file: {target}"
            elif anchor and anchor not in anchors(tree.text(goal)):
                yield number, f"no such heading: {target}"
        for name in PAGE.findall(SPAN.sub("", line)):
            if name not in tree.names:
                yield number, f"no such page: {name}"
        for span in SPAN.findall(line):
            for problem in check_files(tree, span, page.parent):
                yield number, problem
            if OURS.fullmatch(span) and not FOREIGN.match(span) and not tree.has_name(span):
                yield number, f"no such name: {span}"
        for file, owned in OWNER.findall(line):
            texts = [tree.text(p) for p in tree.files if str(p).endswith("/" + file)]
            for name in NAME.findall(owned):
                if texts and not any(re.search(rf"\b{name}\b", t) for t in texts):
                    yield number, f"{file} has no {name}"
    for number, line in enumerate(tree.text(page).split("\n"), 1):
        for options in OPTIONS.findall(line):
            for option in re.findall(r"(?:^|:)(\w+)=", options):
                if option not in tree.options:
                    yield number, f"no such option: {option}"


def comments(path, text):
    """The comments of a file, with the numbers of their lines. What FileCheck
    reads is no comment."""
    if path.suffix in SOURCE:
        mark = re.compile(r"(?:^|\s)//+[/!<=]*(.*)|^\s*\*(.*)|/\*(.*)")
    elif path.suffix == ".ll":
        mark = re.compile(r";+(.*)")
    elif path.suffix in SCRIPT:
        mark = re.compile(r"(?:^|\s)#+(.*)")
    else:
        return
    for number, line in enumerate(text.split("\n"), 1):
        found = mark.search(line)
        if not found:
            continue
        comment = next(part for part in found.groups() if part is not None)
        if not re.match(r"\s*[A-Z][A-Z0-9_-]*:", comment):
            yield number, comment


def check_comments(tree, path):
    for number, comment in comments(path, tree.text(path)):
        for problem in check_files(tree, comment, path.parent):
            yield number, problem
        for name in PAGE.findall(comment):
            if name not in tree.names:
                yield number, f"no such page: {name}"
        for rule in RULE.finditer(comment):
            for number_of_rule in rule.groups():
                if number_of_rule and number_of_rule not in tree.rules:
                    yield number, f"{RULES} has no rule {number_of_rule}"


def check(root):
    tree = Tree(root)
    problems = []
    for path in sorted(tree.files):
        relative = path.relative_to(tree.root)
        if path.suffix == ".md":
            found = check_page(tree, path)
        elif relative.parts[0] in COMMENTED:
            found = check_comments(tree, path)
        else:
            continue
        problems += [f"{relative}:{line}: {text}" for line, text in found]
    return problems


GOOD = {
    "docs/soundness.md": "# The rules\n\n1. One.\n2. Two.\n",
    "docs/a.md": "See [rules](soundness.md#the-rules), `lib/A.h`, `lib/*.h`, `A.h` (`Last`), `Cell::Last`,\n"
                 "`giveIndices()`, `std::atomic`, `cudaMalloc()`, `CRSAN_OPTIONS=seed=1:trap=0`.\n\n    `lib/Block.h`\n",
    "lib/A.h": "// A.h: docs/a.md, docs/soundness.md, rules 1 and 2. Line 3 of k.cu.\n"
               "struct Cell { int Last; };\nvoid giveIndices();\n",
    "lib/Flags.inc": "CRSAN_UINT(seed, 0, 0, 1, \"\")\nCRSAN_BOOL(trap, 0, \"\")\n"
                     "const char *Name = \"CRSAN_OPTIONS\"; // NoneSuch\n",
}
BAD = [
    ("docs/b.md", "[x](none.txt)"), ("docs/b.md", "[x](soundness.md#none)"),
    ("docs/b.md", "None.md, 6"), ("docs/b.md", "`lib/None.h`"), ("docs/b.md", "`None.cpp`"), ("docs/b.md", "`lib/None*.h`"),
    ("docs/b.md", "`Cell::None`"), ("docs/b.md", "`__crsan_none`"), ("docs/b.md", "`NoneSuch`"),
    ("docs/b.md", "`noneSuch()`"), ("docs/b.md", "`lib/A.h:3`"),
    ("docs/b.md", "`lib/A.h` (`Cell`, `seed`)"),
    ("docs/b.md", "    CRSAN_OPTIONS=seed=2:none=1 ./app"), ("lib/B.h", "// See NONE.md."),
    ("lib/B.h", "int x; // See None.h."), ("lib/B.h", "/// docs/none.md"), ("lib/B.h", "// A.h:12"),
    ("lib/B.h", "// Rule 3."), ("lib/B.h", "// docs/soundness.md, rules 2 and 7"),
    ("test/b.ll", "; see lib/None.cpp"), ("test/CMakeLists.txt", "# see None.h"),
]


def self_test():
    def problems_of(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            return check(folder)

    failures = [f"false alarm: {p}" for p in problems_of(GOOD)]
    for name, text in BAD:
        if len(problems_of({**GOOD, name: text + "\n"})) != 1:
            failures.append(f"not found: {text}")
    return failures


def main(argument):
    problems = self_test() if argument == "--self-test" else check(argument)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main(*sys.argv[1:]))
