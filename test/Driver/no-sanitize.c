// Intent: the public macro compiles everywhere and means something in clang.

// RUN: %crsan_clang -fsanitize=cuda-race -Wall -Werror -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -I%crsan_src/include -Wall -Werror -S -emit-llvm %s -o - | FileCheck %s
// RUN: gcc -I%crsan_src/include -Wall -Werror -fsyntax-only %s
// CHECK: define {{.*}}@quiet() #[[ATTRIBUTE:[0-9]+]]
// CHECK: attributes #[[ATTRIBUTE]] = {{.*}}disable_sanitizer_instrumentation
#include <crsan/crsan.h>
CRSAN_NO_SANITIZE int quiet(void);
CRSAN_NO_SANITIZE int quiet(void) { return 0; }
