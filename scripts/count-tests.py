#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up the JUnit reports of ctest and lit: `N passed, N failed`.

ctest runs lit as one test of that name; it is counted by lit's own report. A
report that is missing is a failure: a run that died must not look clean.
"""

import sys
import xml.etree.ElementTree as ET


def count(path, leave_out=None):
    passed = failed = 0
    for case in ET.parse(path).iter("testcase"):
        if case.get("name") == leave_out:
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            print(f"FAILED {case.get('classname', '')} {case.get('name')}")
        elif case.find("skipped") is None:
            passed += 1
    return passed, failed


def main(ctest_xml, lit_xml):
    passed = failed = 0
    for path, leave_out in [(ctest_xml, "lit"), (lit_xml, None)]:
        try:
            p, f = count(path, leave_out)
        except (OSError, ET.ParseError) as error:
            print(f"CRSan: no test report at {path}: {error}", file=sys.stderr)
            p, f = 0, 1
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(*sys.argv[1:]))
