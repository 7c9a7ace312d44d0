// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mark of an object file whose device code is checked.
//
// `crsan-clang` includes this file into each CUDA source that it compiles with
// -fsanitize=cuda-race, and looks for the section when it links: build systems
// such as CMake do not give the compiler's flags to the link.
#ifndef CRSAN_INSTRUMENTED_H
#define CRSAN_INSTRUMENTED_H

#ifndef __CUDA_ARCH__
__attribute__((section("__crsan_instrumented"),
               used)) static const char __crsan_mark = 0;
#endif

#endif // CRSAN_INSTRUMENTED_H
