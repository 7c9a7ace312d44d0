# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what the site table in a file of LLVM IR says of accesses that are left out."""

import sys

import site_table

with open(sys.argv[1], encoding="utf-8") as file:
    header = site_table.header(file.read())
print("unchecked", header.skipped, "exempt", header.exempt)
