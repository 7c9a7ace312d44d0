# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interpreter.py LIBRARY WHAT PROGRAM...: uses the library, or starts the program."""
import ctypes
import multiprocessing
import os
import subprocess
import sys

library, what, *program = sys.argv[1:]


def launch(is_racy):
    ctypes.CDLL(library).launch(ctypes.c_bool(is_racy), ctypes.c_bool(False))


if what == "load":
    launch(True)
elif what == "load-clean":
    launch(False)
elif what == "_exit":
    launch(True)
    os._exit(0)
elif what == "_exit-clean":
    launch(False)
    os._exit(0)
elif what == "exec":
    launch(True)
    os.execv(program[0], program)
elif what == "processes":
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=launch, args=(number == 2,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
elif what == "start":
    subprocess.run(program)
elif what == "start-without-environment":
    subprocess.run(program, env={"PATH": "/usr/bin:/bin"})
