# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two forms of inlined locations in PTX.

LLVM 22 writes a comment behind `.loc` that says where the line was inlined. Later versions, and
NVIDIA's compilers, say so with `function_name` and `inlined_at`, and name the function by a
label in the section .debug_str.
"""

import re


def with_directives(text, functions):
    """The PTX in the second form; `functions` has the names of functions by file and line."""
    files = {name: number for number, name in
             re.findall(r'^\s*\.file\s+(\d+) "/triton/(.*)"', text, re.M)}
    names = {}

    def directives(match):
        frames = re.findall(r"([\w.]+):(\d+):(\d+)", match[1])[::-1]
        lines, outer = [], None
        for file, line, column in frames:
            place = f"{files[file]} {line} {column}"
            inlined = ""
            if outer:
                label = names.setdefault(functions[file, int(line)], f"$L__info_string{len(names)}")
                inlined = f", function_name {label}, inlined_at {outer}"
            lines.append(f"\t.loc\t{place}{inlined}\n")
            outer = place
        return "".join(lines)

    text = re.sub(r"^\t\.loc\t[\d ]+// (.* @\[ .*)\n", directives, text, flags=re.M)
    # What DWARF is there says it again.
    text = text[:text.find("\t.section\t.debug_abbrev")]
    strings = "".join(f"{label}:\n.b8 " + ", ".join(str(c) for c in name.encode() + b"\0") + "\n"
                      for name, label in names.items())
    return text + f"\t.section\t.debug_str\n\t{{\n{strings}\t}}\n" if names else text
