# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets CRSAN_CUDA_PATH, searching where crsan-clang searches and in that order
# (lib/Driver/CudaToolkit.cpp).

if(NOT CRSAN_CUDA_PATH)
  file(GLOB Versioned LIST_DIRECTORIES TRUE /usr/local/cuda-*)
  list(SORT Versioned COMPARE NATURAL ORDER DESCENDING)
  foreach(Candidate "$ENV{CUDA_PATH}" "$ENV{CUDA_HOME}" /usr/local/cuda
      ${Versioned} /opt/cuda /usr/lib/cuda)
    if(Candidate AND EXISTS "${Candidate}/include/cuda_runtime.h")
      set(CRSAN_CUDA_PATH "${Candidate}" CACHE PATH "CUDA toolkit")
      break()
    endif()
  endforeach()
endif()
if(NOT EXISTS "${CRSAN_CUDA_PATH}/include/cuda_runtime.h")
  message(FATAL_ERROR "CRSan: no CUDA toolkit was found; install CUDA 13 or "
    "set CUDA_PATH (or -DCRSAN_CUDA_PATH=) to where it is.")
endif()
message(STATUS "CUDA toolkit: ${CRSAN_CUDA_PATH}")
set(CRSAN_CUDA_INCLUDE_DIR ${CRSAN_CUDA_PATH}/include)
