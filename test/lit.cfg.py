# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import lit.formats

config.name = "CRSan"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".cu", ".cpp", ".c", ".test"]
# What other tests compile; Programs have a runner of their own (scripts/gpu-bundle),
# since they need repetitions, and a GPU runs them too.
config.excludes = ["Inputs", "Programs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.crsan_binary_dir, "test")

bin_dir = os.path.join(config.crsan_binary_dir, "bin")
lib_dir = os.path.join(config.crsan_binary_dir, "lib")
plugin = os.path.join(lib_dir, "libCRSanPass.so")
ptxas = os.path.join(config.cuda_path, "bin", "ptxas")
nvcc = os.path.join(config.cuda_path, "bin", "nvcc")

config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
# Tests choose the toolkit; the caller's environment must not.
config.environment["CUDA_PATH"] = config.cuda_path
config.environment.pop("CUDA_HOME", None)
config.environment.pop("CRSAN_OPTIONS", None)
config.environment["CRSAN_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")

# For tests that only the simulated GPU runs: it executes PTX, and ptxas would take most
# of the time.
sys.path.insert(0, os.path.join(config.crsan_source_dir, "scripts"))
sys.dont_write_bytecode = True
import precompiled

sim_clangxx = os.path.join(bin_dir, "crsan-clang++")
if os.path.exists(ptxas):
    no_assembler = precompiled.NoAssembler(
        pathlib.Path(config.crsan_binary_dir, "precompiled"), config.cuda_path)
    sim_clangxx = no_assembler.compiler(sim_clangxx)
config.substitutions.append(("%sim_clangxx", sim_clangxx))
config.substitutions.append(("%path_without_ptxas", os.pathsep.join(
    [os.path.dirname(sim_clangxx), config.environment["PATH"]])))

config.substitutions.append(("%path_with_cuda", os.pathsep.join(
    [config.environment["PATH"], os.path.join(config.cuda_path, "bin")])))
# Longest names first: lit replaces substitutions in this order.
config.substitutions += [
    ("%crsan_clangxx", os.path.join(bin_dir, "crsan-clang++")),
    ("%crsan_clang", os.path.join(bin_dir, "crsan-clang")),
    ("%crsan_ptxas", os.path.join(bin_dir, "crsan-ptxas")),
    ("%crsan_nvcc", os.path.join(bin_dir, "crsan-nvcc")),
    ("%crsan_src", config.crsan_source_dir),
    ("%crsan_build", config.crsan_binary_dir),
    ("%crsan_lib", lib_dir),
    ("%crsan", os.path.join(bin_dir, "crsan")),
    ("%pass_plugin", plugin),
    ("%opt", os.path.join(config.llvm_tools_dir, "opt")),
    ("%clangxx", os.path.join(config.llvm_tools_dir, "clang++")),
    ("%clang", os.path.join(config.llvm_tools_dir, "clang")),
    ("%python", sys.executable),
    ("%ptxas", ptxas),
    ("%nvcc", nvcc),
    ("%cuda_path", config.cuda_path),
    ("%cmake", config.cmake_command),
]

def has_jsonschema():
    return subprocess.run([sys.executable, "-c", "import jsonschema"],
                          stderr=subprocess.DEVNULL).returncode == 0

# The published schema of SARIF 2.1.0; scripts/test fetches it.
sarif_schema = os.environ.get("SARIF_SCHEMA", "")
config.substitutions.append(("%sarif_schema", sarif_schema))

has_gpu = subprocess.run(
    [os.path.join(config.crsan_source_dir, "scripts", "has-gpu.py")]
).returncode == 0

for feature, present in [
    ("gpu", has_gpu),
    ("plugin", os.path.exists(plugin)),
    ("host-runtime", os.path.exists(os.path.join(lib_dir, "libcrsan_host.a"))),
    ("ptxas", os.path.exists(ptxas)),
    ("nvcc", os.path.exists(nvcc)),
    ("sarif-schema", os.path.exists(sarif_schema) and has_jsonschema()),
    ("make", shutil.which("make") is not None),
    ("mkdocs", shutil.which("mkdocs") is not None),
    ("bazel", shutil.which("bazel") is not None),
    ("chromium", shutil.which("chromium") is not None),
    ("pkg-config", shutil.which("pkg-config") is not None),
    ("cpack", all(map(shutil.which, ("cpack", "dpkg-deb", "dpkg-shlibdeps")))),
    ("mpirun", shutil.which("mpirun") is not None),
    ("triton", importlib.util.find_spec("triton") is not None),
    ("sim", os.path.exists(os.path.join(lib_dir, "sim", "libcudart.so.13"))),
]:
    if present:
        config.available_features.add(feature)

if "mkdocs" not in config.available_features:
    lit_config.note("mkdocs was not found: the site of docs/ is not built")
if "bazel" not in config.available_features:
    lit_config.note("bazel was not found: its recipe is not tested")
if "chromium" not in config.available_features:
    lit_config.note("chromium was not found: HTML reports are not tested in a browser")
