# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What coverage.cu's reports say of its accesses: coverage.py RUNS.json RUN.html."""
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path("coverage.cu").read_text().splitlines()


def line(text):
    return next(n for n, t in enumerate(SOURCE, 1) if text in t and not t.startswith("//"))


runs = json.loads(pathlib.Path(sys.argv[1]).read_text())
found = {(a["line"], a.get("access", "")): a for a in runs["coverage"]}
assert len(runs["runs"]) == 3
# Eight warps run it in each of three runs, until sampling sets in: a warp that
# has waited lets others pass.
store = found[line("B[I] = A[I]"), "store"]
assert 3 <= store["checks"] <= 48, store
assert found[line("B[I] = A[I]"), "load"]["checks"] == store["checks"]
assert found[line("int first"), "load"]["kernel"] == "work(int*, int*, int)"
assert found[line("B[I] += Value"), "store"]["checks"] == 3
assert found[line("A[I] = 7"), "store"]["checks"] == 0
assert found[line("void unused"), "store"]["checks"] == 0
assert found[line("asm volatile"), ""]["not_checked"] == "it is in inline PTX that computes its address or condition, or synchronises before it"
assert found[line("void hint"), ""]["not_checked"].startswith("CRSAN_NO_SANITIZE")
assert len(runs["coverage"]) == len(found) == 8, sorted(found)

page = pathlib.Path(sys.argv[2]).read_text()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>',
                            page, re.S).group(1))
accesses = {(a["frame"]["line"], a.get("access", "")): a
            for a in data["coverage"]["accesses"]}
# Metadata mode has checked each execution, and the collider some.
both = accesses[line("B[I] = A[I]"), "write"]
assert both["followed"] and both["checks"] > 0, both
assert not accesses[line("void unused"), "write"]["followed"]
assert accesses[line("void hint"), ""]["notChecked"].startswith("CRSAN_NO_SANITIZE")
