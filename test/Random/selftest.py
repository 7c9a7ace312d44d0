#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be tested of the generator, the reader and the reducer by themselves."""
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

import generate
import harness
from reduce import reduce


def load(name):
    """A script without a suffix, as a module."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(
        name.replace("-", "_"), str(Path(__file__).resolve().parent / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


bundle_run = load("bundle-run")

OUTPUT = """\
kernel 3 repeatable 00ff
==================
CRSan: data race: clobbered read of 4 bytes in shared memory
    #0 k3(unsigned int const*) at a.cu:9:3
  kernel: k3(unsigned int const*)
==================
CRSan: kernel fault: deadlock
    #0 k3(unsigned int const*) at a.cu:9:3
==================
SUMMARY: CRSan: 1 data race (1 clobbered read)
==================
CRSan: data race: race within a block, 4 bytes in shared memory
  write of 4 bytes at /usr/include/x.h:3:1 by block (0,0,0) thread (1,0,0):
    #0 fold(unsigned int) at /usr/include/x.h:3:1
    #1 inlined in k3(unsigned int const*) at /tmp/a.cu:12:3
  earlier read of 4 bytes at /tmp/a.cu:9:3 by block (0,0,0) thread (0,4,0):
    #0 k3(unsigned int const*) at /tmp/a.cu:9:3
  kernel: k3(unsigned int const*)
==================
CRSan: oracle checked 1 kernel launch: 2 accesses of 64 threads in 1 block
SUMMARY: CRSan: 1 data race (1 race within a block)
"""

METADATA = """\
==================
CRSan: data race: race within a block, 4 bytes in shared memory
  write of 4 bytes at a.cu:9:3 by block (0,0,0) thread (0,0,0):
    #0 k3(unsigned int const*) at a.cu:9:3
    also read at x.h:3:1, inlined at a.cu:12:3
  earlier write of 4 bytes at x.h:5:1 by block (0,0,0) thread (1,0,0):
    #0 fold(unsigned int) at x.h:5:1
    #1 inlined in k3(unsigned int const*) at a.cu:20:3
    also read at a.cu:21:3
  kernel: k3(unsigned int const*)
==================
"""


class Generator(unittest.TestCase):
    def test_same_seed_same_file(self):
        self.assertEqual(generate.render(7, range(25)), generate.render(7, range(25)))

    def test_kernels_do_not_depend_on_each_other(self):
        alone = generate.kernel_of(7, 11).text()
        together = "\n".join(generate.render(7, range(25)).splitlines())
        self.assertIn("\n".join(alone), together)

    def test_one_statement_a_line(self):
        for line in "\n".join(generate.kernel_of(9, 2).text()).splitlines():
            code = line.split('asm volatile')[0].split("//")[0]
            if not code.strip().startswith(("for ", "return finish", "static")):
                self.assertLessEqual(code.count(";"), 1, line)


class Reader(unittest.TestCase):
    def test_sides_and_faults(self):
        outcome = harness.read_output(OUTPUT, "a.cu")
        self.assertEqual(dict(outcome.races), {3: {(9, 12)}})
        self.assertEqual(outcome.accused(3), {9})
        self.assertEqual(outcome.unconfirmed(3), set())
        self.assertEqual(outcome.fault, "deadlock")
        self.assertEqual(outcome.results, {3: (True, "00ff")})
        self.assertEqual(outcome.details, {(3, (9, 12)): (
            "race within a block, 4 bytes in shared memory", "of one block")})

    def test_pairs_of_companions(self):
        outcome = harness.read_output(METADATA, "a.cu")
        # Two reads do not race.
        self.assertEqual({harness.lines_of(pair) for pair in outcome.accusations[0].pairs},
                         {(9, 20), (9, 21), (12, 20)})
        self.assertEqual(outcome.accused(3), {9, 12, 20, 21})

    def test_helpers(self):
        text = "int fold(int V);\n// ---- kernel 3, 0 weaknesses ----\nV += fold(A[1]);\nA[2] = V;\n"
        self.assertEqual(harness.helpers(text), (range(1, 2), {3}))
        lines = OUTPUT.replace(" at a.cu:9:3\n  kernel", " at a.cu:10:3\n  kernel")
        outcome = harness.read_output(lines, "a.cu")
        outcome.helpers, outcome.callers = range(1, 10), {10}
        self.assertEqual(outcome.unconfirmed(3), set())

    def test_unconfirmed(self):
        lines = OUTPUT.replace(" at a.cu:9:3\n  kernel", " at a.cu:10:3\n  kernel")
        self.assertEqual(harness.read_output(lines, "a.cu").unconfirmed(3), {10})


    def test_pairs(self):
        lines = OUTPUT.replace(": clobbered read of", ": missing block barrier,").replace(
            "    #0 k3(unsigned int const*) at a.cu:9:3\n  kernel", """\
  write of 4 bytes at a.cu:9:3 by block (0,0,0) thread (1,0,0):
    #0 k3(unsigned int const*) at a.cu:9:3
  earlier read of 4 bytes at a.cu:12:3 by block (0,0,0) thread (0,0,0):
    #0 k3(unsigned int const*) at a.cu:12:3
  kernel""", 1)
        outcome = harness.read_output(lines, "a.cu")
        self.assertEqual(outcome.unconfirmed_pairs(3), set())
        self.assertEqual(outcome.found_pairs(3), {(9, 12)})
        outcome = harness.read_output(lines.replace("a.cu:12:3\n  kernel", "a.cu:10:3\n  kernel"), "a.cu")
        self.assertEqual(outcome.unconfirmed_pairs(3), {(9, 10)})
        self.assertEqual(outcome.found_pairs(3), set())


class Bundle(unittest.TestCase):
    """What the script of a bundle says of the output of a program."""

    def run_of(self, output, mode="collider", status=0, **case):
        known = {"file": "a", "racy": False, "kernels": [3], "known_racy": [], "broken": [],
                 "results": {"3": "00ff"}}
        run = bundle_run.Run({**known, **case}, mode, 1, "seed=1")
        run.read(output)
        run.judge_ending(status, output)
        return run

    def failures(self, run, *native):
        return [what for _, what in bundle_run.failures_of(run, bundle_run.native_results(native))]

    def test_same_result(self):
        native = self.run_of("kernel 3 repeatable 00ff\nDONE\n", "native")
        run = self.run_of("kernel 3 repeatable 00ff\nDONE\nSUMMARY: CRSan: no data races found\n")
        self.assertEqual(self.failures(run, native) + self.failures(native, native), [])

    def test_other_result(self):
        native = self.run_of("kernel 3 repeatable 00fe\nDONE\n", "native")
        run = self.run_of("kernel 3 repeatable 00ff\nDONE\nSUMMARY: CRSan: no data races found\n")
        self.assertEqual(self.failures(run, native), ["result 00ff instead of 00fe"])
        self.assertEqual(self.failures(native, native),
                         ["native result 00fe, on the simulated GPU 00ff"])

    def test_accusation(self):
        run = self.run_of(OUTPUT, status=66)
        self.assertEqual(self.failures(run), ["accused of a race"])
        self.assertEqual(self.failures(self.run_of(OUTPUT, status=66, racy=True)), [])
        self.assertEqual(self.failures(self.run_of(OUTPUT, status=66, known_racy=[3])), [])

    def test_silence(self):
        run = self.run_of("kernel 3 repeatable 00ff\nDONE\n")
        self.assertEqual(self.failures(run), ["no summary"])


class Reducer(unittest.TestCase):
    def test_keeps_what_fails_and_what_is_marked(self):
        text = generate.render(5, [3])
        line = next(l for l in text.splitlines() if "// keep" in l)
        small = reduce(text, lambda t: line in t and "__global__" in t, 5)
        self.assertLess(len(small), len(text))
        marked = [l for l in text.splitlines() if l.endswith("// keep")]
        self.assertEqual(marked, [l for l in small.splitlines() if l.endswith("// keep")])


if __name__ == "__main__":
    unittest.main()
