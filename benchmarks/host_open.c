// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens the gate of a program's host code (include/crsan/abi/Host.h), as if a
// GPU were at work all the time, on memory of its own.

#include <stdint.h>

__attribute__((visibility("hidden"))) extern uint64_t __crsan_host_gate[3];

__attribute__((constructor, disable_sanitizer_instrumentation)) static void
openGate(void) {
  __crsan_host_gate[0] = 64; // No memory is there.
  __crsan_host_gate[1] = 64;
}
