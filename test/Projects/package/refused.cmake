# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Without a project: the functions alone, under another compiler.

function(add_executable)
endfunction()
function(set_target_properties)
endfunction()
include(${FOUND})
set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
crsan_enable(target)
