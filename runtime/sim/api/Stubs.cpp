// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every function of the library that is not implemented.
//
// Names.inc is made from Names.txt, the names that CUDA's library exports. Each
// gets a weak definition that stops the program with the name; where there is
// a real one, the linker takes that. So a program always loads, and nothing
// that it calls is silently skipped.

namespace crsan::api {
[[noreturn]] void stopAt(const char *What, const void *ReturnAddress);
}

// This file sees no declaration of them: all are given one type.
#define CRSAN_NAME(Name)                                                       \
  extern "C" __attribute__((weak)) void Name() {                               \
    ::crsan::api::stopAt(#Name, __builtin_return_address(0));                  \
  }
#include "Names.inc"
#undef CRSAN_NAME
