// Intent: -E, -S, -c, -emit-llvm and -fsyntax-only do what clang does, with nothing
// linked and no warning about what the wrapper added.

// RUN: %crsan_clangxx -### -fsanitize=cuda-race -E %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fsyntax-only %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -c %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -S %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -S -emit-llvm --cuda-device-only %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -c --cuda-host-only %s 2>&1 | FileCheck %s --check-prefix=HOST --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race --cuda-device-only %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -MM %s 2>&1 | FileCheck %s --implicit-check-not=warning: --implicit-check-not=libcrsan_host
// CHECK: "nvptx64-nvidia-cuda"
// CHECK-SAME: "__SANITIZE_CUDA_RACE__=1"
// HOST: "x86_64{{.*}}"__SANITIZE_CUDA_RACE__=1"

// What has no input is clang's business.
// RUN: %crsan_clangxx -fsanitize=cuda-race --version | FileCheck %s --check-prefix=VERSION
// VERSION: clang version 22
int X;
