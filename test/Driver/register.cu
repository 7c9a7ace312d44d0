// Intent: `register` in C++17 is a warning, as nvcc's, with the sanitizer; -Werror leaves it one.

// RUN: %crsan_clangxx -fsanitize=cuda-race -Werror -fsyntax-only %s 2>&1 | FileCheck %s
// RUN: %crsan_clangxx -fsanitize=cuda-race -Werror -fsyntax-only -x c++ %s 2>&1 | FileCheck %s
// RUN: %crsan_clangxx -arch=sm_75 -fsyntax-only %s 2>&1 | FileCheck %s
// RUN: not %clangxx -fsyntax-only -x c++ %s 2>&1 | FileCheck %s --check-prefix=CLANG
// CHECK: warning: ISO C++17 does not allow 'register' storage class specifier
// CLANG: error: ISO C++17 does not allow 'register' storage class specifier
int main() {
  register int X = 0;
  return X;
}
