// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mark of an object file that a command written for nvcc compiled.
//
// `crsan-clang` includes this file into each CUDA source of such a command, and
// looks for the section when it links: nvcc links device code and CUDA's
// library without being told to.
#ifndef CRSAN_FROM_NVCC_H
#define CRSAN_FROM_NVCC_H

#ifndef __CUDA_ARCH__
__attribute__((section("__crsan_nvcc"),
               used)) static const char __crsan_nvcc_mark = 0;
#endif

#endif // CRSAN_FROM_NVCC_H
