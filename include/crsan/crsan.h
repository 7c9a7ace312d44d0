// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CudaRaceSanitizer for the programs it checks.
//
// Usable from C and C++, by any compiler: without CRSan the macros are empty.
// `__SANITIZE_CUDA_RACE__` is defined where -fsanitize=cuda-race is on.
#ifndef CRSAN_CRSAN_H
#define CRSAN_CRSAN_H

/// Before a function: accesses in it are not checked. For code that races on
/// purpose and cannot say so with atomics.
///
///     CRSAN_NO_SANITIZE __device__ void hint(int *Flag) { *Flag = 1; }
#if defined(__clang__) && defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define CRSAN_NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef CRSAN_NO_SANITIZE
#define CRSAN_NO_SANITIZE
#endif

#endif // CRSAN_CRSAN_H
