#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the programs of Inputs with nvcc and judges what CRSan says of them.

    run.py build  DIR [--jobs N]        nvcc's programs, and crsan-nvcc's (names with "own-")
    run.py added  DIR [--sim CRSAN_LIB] checks that are added when a program starts
    run.py own    DIR [--sim CRSAN_LIB] crsan-nvcc's programs, started by themselves
Logs of what failed: DIR/failed/NAME.log. Prints a line for each failure and the sums.
"""
import argparse, concurrent.futures, os, re, subprocess, sys, time
from pathlib import Path

PROGRAMS_AT = Path(__file__).resolve().parent / "Inputs"
CUDA = os.environ.get("CUDA_PATH", "/usr/local/cuda")
PROGRAMS = ["shared", "variables", "managed", "cooperative", "cluster", "graph", "forks", "two",
            "library", "opened", "linked", "modules"]
MODES = ["metadata", "collider", "hybrid"]
FRAME = re.compile(r"#\d+\s.*\sat (.+?):(\d+)(?::\d+)?\s*$", re.M)
NOT = re.compile(r"^CRSan: .*(not instrumented|is not checked|not complete|dropped|reinstall|"
                 r"failed|cannot|mistake).*$", re.M)


def marked(name):
    name = "library" if name == "opened" else name
    return {f"{p.name}:{n}" for p in (PROGRAMS_AT / "common.h", PROGRAMS_AT / f"{name}.cu")
            for n, line in enumerate(p.read_text().splitlines(), 1) if line.endswith("// RACE")}


def call(command, seconds, cwd=None, **env):
    start = time.monotonic()
    p = subprocess.Popen(command, cwd=cwd, text=True, errors="replace", start_new_session=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, **env})
    try:
        out, _ = p.communicate(timeout=seconds)
        status = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        out, _ = p.communicate()
        status = "timed out"
    return status, out, time.monotonic() - start


def sources(name):
    return [f"{name}.cu"] + ([f"{name}-other.cu"] if name in ("two", "linked") else [])


def commands(compiler, program, out):
    """Without -o OUT for the last one."""
    if program == "modules":
        return [compiler + ["modules.cu", "-lnvrtc", "-lcuda"]]
    if program == "linked":
        return [compiler + ["-rdc=true"] + sources(program)]
    if program not in ("library", "opened"):
        return [compiler + sources(program)]
    shared = compiler + ["-Xcompiler", "-fPIC", "-shared", "library-other.cu", "-o", f"{out}.so"]
    if program == "opened":
        return [shared, compiler + ["-DOPENED", "library.cu", "-ldl"]]
    return [shared, compiler + ["library.cu", f"{out}.so"]]


def build_jobs(args):
    plain = ["nvcc", "-std=c++17", "-O2", "-arch=sm_90", "-lineinfo"]
    own = [f"{args.bin}/crsan-nvcc", "-std=c++17", "-O2", "-arch=sm_90", "-fsanitize=cuda-race"]
    for name in PROGRAMS:
        for racy in (0, 1):
            words = ["-DRACY"] * racy + sources(name)
            kind = "racy" if racy else "fixed"
            for cudart in ("shared", "static"):
                out = f"{name}.{kind}.{cudart}"
                compiler = plain + ["-cudart", cudart] + ["-DRACY"] * racy
                yield out, commands(compiler, name, args.dir / out)
            if name in ("shared", "cooperative", "cluster", "two"):
                for mode in MODES:
                    if mode != "hybrid" or name == "shared":
                        yield (f"own-{name}.{kind}.{mode}",
                               [own + [f"-fsanitize-cuda-race-mode={mode}"] + words])
    for racy in (0, 1):
        kind, words = ("racy" if racy else "fixed"), ["-DRACY"] * racy
        yield f"own-two.{kind}.rdc", [own + ["-rdc=true", "-fsanitize-cuda-race-mode=metadata"] + words + sources("two")]
        yield f"own-shared.{kind}.static", [own + ["-cudart", "static"] + words + sources("shared")]


def build(args):
    def one(job):
        name, steps = job
        for words in steps:
            output = [] if "-o" in words else ["-o", str(args.dir / name)]
            status, out, seconds = call([str(w) for w in words] + output, 120, PROGRAMS_AT)
            if status:
                return f"{name}: does not build: {status}\n{' '.join(words)}\n{out}"
            if out.strip():
                print(f"{name}: {out.strip()[:400]}")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        bad = list(filter(None, pool.map(one, build_jobs(args))))
    print("\n".join(bad))
    print(f"built, {len(bad)} did not build")


def accusations(out):
    """The innermost frame of each access that findings name."""
    text = out.split("SUMMARY: CRSan")[0]
    lines, inside = set(), False
    for line in text.splitlines():
        if line.startswith("CRSan: data race:") or line.startswith("  conflicts with ") or line.startswith("  earlier "):
            inside = True
        elif inside and line.strip().startswith("#"):
            m = FRAME.search(line)
            path, number = (m[1], m[2]) if m else (line, "0")
            if "/include/" in path:
                continue  # The access is that of whoever called it.
            lines.add(f"{Path(path).name}:{number}")
            inside = False
    return lines


def judge(name, status, out, native, seconds):
    """What is wrong, in words."""
    program, kind = name.removeprefix("own-").split(".")[:2]
    if "PASS" not in out:
        yield "does not print PASS"
    if "WRONG" in out:
        yield "wrong result"
    if native:
        if status != 0:
            yield f"status {status}"
        return
    accused = accusations(out)
    if accused - marked(program):
        yield f"FALSE ACCUSATION of {sorted(accused - marked(program))}"
    for m in NOT.finditer(out):
        yield "says: " + m[0][:200]
    if kind == "racy":
        if not accused & marked(program):
            yield "race not found"
        if status != 66:
            yield f"status {status} instead of 66"
    else:
        if "CRSan: data race" in out:
            yield "FALSE ALARM"
        if status != 0:
            yield f"status {status} instead of 0"
        if "SUMMARY: CRSan: no data races found" not in out:
            yield "no line that says that no data races were found"


def run_jobs(args):
    """(title, binary, command, environment, whether native)"""
    sim = {"LD_LIBRARY_PATH": f"{args.sim}/sim"} if args.sim else {
        "LD_LIBRARY_PATH": f"{CUDA}/lib64:" + os.environ.get("LD_LIBRARY_PATH", "")}
    if args.what == "own":
        for path in sorted(args.dir.glob("own-*.*.*")):
            for seed in range(2):
                if args.sim and path.name.endswith(".static"):
                    continue
                yield (f"{path.name} seed {seed}", path.name, [path],
                       {**sim, "CRSAN_OPTIONS": f"verbosity=1:seed={seed}"}, False)
        return
    names = [f"{p}.{k}.{c}" for p in PROGRAMS for c in ("shared", "static")
             for k in ("fixed", "racy") if not (args.sim and c == "static")]
    if not args.sim:
        for name in names:
            yield f"{name} native", name, [args.dir / name], sim, True
    for mode in MODES:
        for name in names:
            for loading in ["LAZY"] + ["EAGER"] * ("shared" == name.split(".")[2] and not args.sim):
                for words in [[]] + [["child"]] * name.startswith("forks"):
                    env = {**sim, "CUDA_MODULE_LOADING": loading,
                           "CRSAN_CACHE_DIR": f"{args.dir}/cache",
                           "CRSAN_OPTIONS": "verbosity=1:seed=1"}
                    command = [f"{args.bin}/crsan", "run", "--device=gpu", f"--detector={mode}",
                               args.dir / name, *words]
                    if args.sim:
                        env["CRSAN_OPTIONS"] += f":detector={mode}"
                        env["LD_PRELOAD"] = f"{args.sim}/libcrsan_preload.so"
                        command = [args.dir / name, *words]
                        if words:
                            continue  # `crsan run` decides about the exit code.
                    yield (" ".join([name, mode, loading, *words]), name, command, env, False)


def run(args):
    failed = args.dir / "failed"
    failed.mkdir(exist_ok=True)
    end = time.monotonic() + args.minutes * 60

    def one(job):
        title, name, command, env, native = job
        if time.monotonic() > end:
            return None
        if not (args.dir / name).exists():
            return title, ["was not built"], "", 0
        status, out, seconds = call([str(w) for w in command], args.timeout, args.dir, **env)
        wrong = list(judge(name, status, out, native, seconds))
        if args.what == "added" and not native and "got checks" not in out:
            wrong.append("no line that says that the code got checks")
        if wrong:
            file = failed / (re.sub(r"[^\w.-]+", "_", f"{args.what} {title}") + ".log")
            file.write_text(f"{title}: {wrong}\n{command} {env}\nstatus {status}, {seconds:.1f} s\n{out[:200000]}")
        return title, wrong, out, seconds

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        done = list(pool.map(one, run_jobs(args)))
    late = done.count(None)
    done = [d for d in done if d]
    for title, wrong, out, seconds in done:
        if wrong:
            print(f"FAILED {title} ({seconds:.1f} s): {'; '.join(wrong)}")
    bad = sum(bool(d[1]) for d in done)
    times = sorted(d[3] for d in done) or [0]
    print(f"{args.what}: {len(done) - bad} passed, {bad} failed, {late} not run in time; "
          f"seconds a run: median {times[len(times) // 2]:.1f}, most {times[-1]:.1f}")
    return bad or late


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["build", "added", "own"])
    p.add_argument("dir", type=Path)
    p.add_argument("--bin", default=os.path.dirname(subprocess.getoutput("which crsan")))
    p.add_argument("--jobs", type=int, default=12)
    p.add_argument("--timeout", type=float, default=30)
    p.add_argument("--minutes", type=float, default=5)
    p.add_argument("--sim", help="the folder lib of CRSan: rehearse on the simulated GPU")
    args = p.parse_args()
    args.dir.mkdir(parents=True, exist_ok=True)
    args.dir = args.dir.resolve()
    sys.exit(1 if (build if args.what == "build" else run)(args) else 0)


main()
