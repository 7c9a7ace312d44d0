# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# status.py CODE COMMAND...: runs the command, and fails unless its exit code is CODE.

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    print(f"exit code {code}, expected {sys.argv[1]}", file=sys.stderr)
    sys.exit(1)
