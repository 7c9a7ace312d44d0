# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what the LLVM IR on standard input tells metadata mode's runtime, between
what it does to memory itself:

    function f
      enter
      access(load 4 global, %p)
      load
      strong(update 4 system relaxed, %p)

"access" and "range" are checks of weak accesses, of all their bytes or of so many;
"strong" is one of a strong access, and of one that writes the release behind it.
"swap" is one of a compare-and-swap that has succeeded, against "swap_reader".
"""

import re
import sys

SITE_WORDS = 4  # abi::AccessSite
SCOPES = ("block", "cluster", "device", "system")
ORDERS = ("weak", "relaxed", "acquire", "release", "acq_rel")
SPACES = {0: "generic", 1: "global", 3: "shared", 7: "cluster"}
PREFIX = "__crsan_md_"
# Those of which the last argument is not the warp's place.
WITHOUT_PLACE = ("enter", "self", "pages", "pages_from", "sites", "count", "count_proven",
                 "owners", "owner", "seek_exemptions", "note_exemptions", "snapshot")

text = sys.stdin.read()
words = []
if array := re.search(r"@__crsan_accesses_\w+ = .*? global \[\d+ x i64\] \[(.*?)\]", text):
    words = [int(w) % 2**64 for w in re.findall(r"i64 (-?\d+)", array.group(1))]


def describe(index):
    what = words[index * SITE_WORDS + 1]
    flags, scope, order, space = ((what >> bit) & 0xFF for bit in (32, 40, 48, 56))
    if flags & 3 == 0:
        return "barrier"  # Its size is a hash.
    kind = {1: "load", 2: "store", 3: "update"}[flags & 3]
    parts = [kind, str(what & 0xFFFFFFFF), SPACES[space]]
    if flags & 4:
        parts += [SCOPES[scope], ORDERS[order]]
    if flags & 8:
        parts.append("atomic")
    if words[index * SITE_WORDS + 3] >> 32 & 2:  # TakesLock
        parts.append("lock")
    return " ".join(parts)


class Function:
    """Follows how addresses are computed, to print them by their source."""

    def __init__(self):
        self.values = {}
        self.place = False  # Its warp's place is about to be loaded.

    def name(self, value):
        return self.values.get(value, value)

    def define(self, line):
        if cast := re.match(r"(%\S+) = (?:ptrtoint|inttoptr|addrspacecast|zext|trunc) (?:nuw |nneg )?\S+(?: addrspace\(\d+\))? (\S+) to", line):
            self.values[cast.group(1)] = self.name(cast.group(2))
        elif part := re.match(r"(%\S+) = extractvalue .*\} (%\S+), (\d+)", line):
            self.values[part.group(1)] = f"{part.group(2)}.{part.group(3)}"
        elif test := re.match(r"(%\S+) = icmp (eq|ne) \S+ (\S+), ([^\s,]+)", line):
            sign = {"eq": "==", "ne": "!="}[test.group(2)]
            self.values[test.group(1)] = f"{self.name(test.group(3))} {sign} {test.group(4)}"
        elif choice := re.match(r"(%\S+) = select i1 (%\S+), i64 (\d+), i64 0", line):
            self.values[choice.group(1)] = f"{self.name(choice.group(2))} ? {choice.group(3)} : 0"
        elif choice := re.match(r"(%\S+) = select i1 (%\S+), i32 2, i32 1", line):
            self.values[choice.group(1)] = f"1 + ({self.name(choice.group(2))})"
        elif box := re.match(r"(%\S+) = call i64 @__crsan_box_bytes\(([^)]*)\)", line):
            self.values[box.group(1)] = f"box({', '.join(self.arguments(box.group(2)))})"
        elif add := re.match(r"(%\S+) = add i64 (%\S+), (-?\d+)(?:,|$)", line):
            self.values[add.group(1)] = f"{self.name(add.group(2))}+{add.group(3)}"

    def arguments(self, text):
        site = re.match(r"ptr addrspacecast \(ptr addrspace\(1\) .*?@__crsan_accesses_\w+(?:, i64 (\d+)\))? to ptr\)(?:, )?", text)
        parts = []
        if site:
            parts.append(describe(int(site.group(1) or 0) // (SITE_WORDS * 8)))
            text = text[site.end() :]
        for constant in re.findall(r"\S+ (.+?)(?:, |$)", text):
            parts.append(self.name(constant))
        return parts


def told(name, arguments):
    """What a call of the runtime says; `arguments` as the call has them."""
    if name in ("enter", "leave"):
        # Without what is of interest between grids only: a flag, the kernel's tag.
        flags = str(int(arguments[0]) & 7)
        return name, [flags] if name == "enter" else [flags, *arguments[1:]]
    if name == "copy":
        # The mbarrier at which the copy completes, if there is one.
        return name, arguments[:-1] if arguments[-1] == "0" else arguments
    if name in ("block_arrive", "block_depart", "block_agree"):
        # The iteration, if it is told.
        return name, arguments[:1] if arguments[1:] == ["0"] else arguments
    if name != "check":
        return name, arguments
    what, place, length = arguments[:3]
    if arguments[4] == "2":
        return "swap", [what, place]
    assert arguments[3:] == ["0", "1"], "a check that does not count"
    kind, size = what.split()[:2]
    if len(what.split()) > 3:
        return ("strong", [what, place])
    return ("access", [what, place]) if length == size else ("range", [what, place, length])


def without_plain_body(function):
    """Takes out the choice whether a grid is followed, and the body for those that are not, which
    comes last."""
    if "call i32 @__crsan_md_draw(" not in function:
        return function
    begin = re.search(r"\n[^\n]*@__crsan_config", function).start()
    choice = re.search(r"call i32 @__crsan_md_draw\(.*?= phi i1 .*?"
                       r"br i1 [^\n]*label %([^\s,]+), label %([^\s,]+)", function, re.S)
    plain, checked = (re.search(rf"^{re.escape(name)}:.*$", function, re.M)
                      for name in choice.groups())
    return function[:begin] + function[checked.end():plain.start()] + "\n}"


text = re.sub(r"^define .*?^\}", lambda found: without_plain_body(found.group()), text,
              flags=re.M | re.S)
function = None
released = None  # What has to be said next.
for line in text.splitlines():
    line = line.strip()
    if start := re.match(r"define .*?@(\w+)\(", line):
        function = None
        if not start.group(1).startswith("__crsan"):
            function = Function()
            print("function", start.group(1))
    if not function:
        continue
    function.define(line)
    if label := re.match(r"(\w+):", line):
        print(f"  {label.group(1)}:")
    elif call := re.search(r"call .*?@" + PREFIX + r"(\w+)\((.*)\)", line):
        arguments = function.arguments(call.group(2))
        if call.group(1) == "self":
            function.place = True
            continue
        if call.group(1) not in WITHOUT_PLACE:
            arguments.pop()
        name, arguments = told(call.group(1), arguments)
        if released:
            assert (name, arguments) == ("release", released), "a write that releases nothing"
            released = None
            continue
        if name == "strong" and arguments[0].split()[0] != "load":
            released = arguments
        print(f"  {name}({', '.join(arguments)})" if arguments else f"  {name}")
    elif call := re.search(r'call .*? asm (?:\w+ )*"([^"]*)"', line):
        print(f"  asm {call.group(1)}")
    elif "@__crsan_box_bytes(" in line:
        pass  # Its result is an argument.
    elif call := re.search(r"call .*?([@%][\w.]+)\(", line):
        print(f"  call {call.group(1)}")
    elif function.place and re.match(r"%\S+ = load i32, ptr addrspace\(1\) %", line):
        function.place = False
    elif operation := re.match(r"(?:\S+ = )?(load|store|atomicrmw|cmpxchg|fence|ret)\b", line):
        print(f"  {operation.group(1)}")
