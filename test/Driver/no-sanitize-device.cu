// Intent: the public macro on device functions and kernels reaches the IR.

// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -Wall -Werror --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s
// CHECK: define {{.*}}@_Z5quietPi({{.*}} #[[ATTRIBUTE:[0-9]+]]
// CHECK: attributes #[[ATTRIBUTE]] = {{.*}}disable_sanitizer_instrumentation
#include <crsan/crsan.h>
CRSAN_NO_SANITIZE __global__ void quiet(int *P) { *P = 1; }
