# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words of clang's command lines in nvcc's spelling.

The test programs say what they need in clang's words (test/Programs/README.md).
"""
SAME_MEANING = {"-fgpu-rdc": ["-rdc=true"], "-pthread": ["-Xcompiler", "-pthread"]}
# What clang takes without being asked.
ALLOWED = ["--expt-relaxed-constexpr", "--extended-lambda"]
NAMES_GPU = ("--cuda-gpu-arch=", "--offload-arch=")


def translate(words):
    """The words for crsan-nvcc. What nvcc has no word for stays as it is."""
    named = [word.split("=", 1)[1] for word in words if word.startswith(NAMES_GPU)]
    removed = [word.split("=", 1)[1] for word in words if word.startswith("--no-offload-arch=")]
    result = []
    for word in words:
        if word.startswith((*NAMES_GPU, "--no-offload-arch=", "--cuda-path=")):
            continue
        if word.startswith("-Wl,"):
            for option in word.split(",")[1:]:
                result += ["-Xlinker", option]
        else:
            result += SAME_MEANING.get(word, [word])
    for gpu in set(named) - set(removed):
        virtual = gpu.replace("sm_", "compute_")
        result.append(f"-gencode=arch={virtual},code=[{gpu},{virtual}]")
    return result + ALLOWED
