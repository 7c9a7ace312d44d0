// Intent: the device side loads the pass, both sides get line tables and the
// macro, and only CUDA sources see the compatibility header.

// RUN: %crsan_clangxx -### -fsanitize=cuda-race -O2 -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=warning: --implicit-check-not=-fsanitize
// CHECK: "-cc1" "-triple" "nvptx64-nvidia-cuda"
// CHECK-SAME: "-mlink-builtin-bitcode"
// CHECK-SAME: "-target-cpu" "sm_75"
// CHECK-SAME: "-debug-info-kind=line-directives-only"
// CHECK-SAME: "-include" "__clang_cuda_runtime_wrapper.h" "-include" "{{[^"]*}}crsan/instrumented.h" "-isystem" "{{[^"]*}}crsan/clang" "-include" "{{[^"]*}}crsan/cuda_compat.h"
// CHECK-SAME: "-isystem" "{{[^"]*}}/include/cccl"
// CHECK-SAME: "-D" "__SANITIZE_CUDA_RACE__=1"
// CHECK-SAME: "-fpass-plugin={{[^"]*}}lib/libCRSanPass.so"
// CHECK: crsan-ptxas" "-m64" "-O2" "-lineinfo" {{.*}}"--crsan-toolkit={{[^"]+}}"
// CHECK: fatbinary"
// CHECK-SAME: kind=elf,sm=75
// CHECK-SAME: kind=ptx,sm=75
// CHECK: "-cc1" "-triple" "x86_64
// CHECK-NOT: -fpass-plugin
// CHECK-SAME: "-debug-info-kind=line-tables-only"
// CHECK-SAME: "-include" "{{[^"]*}}crsan/cuda_compat.h"
// CHECK-SAME: "-D" "__SANITIZE_CUDA_RACE__=1"
// CHECK-NOT: -fpass-plugin

// The header can be turned off; the user's own -g is left alone.
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fno-sanitize-cuda-race-compat-header \
// RUN:   -g0 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: cuda_compat.h
// PLAIN-NOT: -debug-info-kind

// Device code stays optimised whatever the debug level is.
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -g -O2 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=DEBUG
// DEBUG: ptxas" "-m64" "-O2" "-lineinfo"
// DEBUG: "-debug-info-kind=constructor"
int X;
