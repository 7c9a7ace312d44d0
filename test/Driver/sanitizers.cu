// Intent: cuda-race in a list with others, the last word winning, and recovery.

// RUN: %crsan_clangxx -### -fsanitize=address,cuda-race -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIST --implicit-check-not='-fsanitize={{.*}}cuda-race'
// LIST: "nvptx64-nvidia-cuda"
// LIST-SAME: "-fpass-plugin=
// LIST: "x86_64{{.*}}"-fsanitize=address"

// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fno-sanitize=all -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: %crsan_clangxx -### -fsanitize=cuda-race,address -fno-sanitize=address,cuda-race -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OFF
// OFF-NOT: -fpass-plugin
// OFF-NOT: __SANITIZE_CUDA_RACE__

// RUN: %crsan_clangxx -### -fno-sanitize=cuda-race -fsanitize=cuda-race -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=ON
// ON: "-fpass-plugin=

// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fno-sanitize-recover=cuda-race %s -o %t 2>&1 | FileCheck %s --check-prefix=HALT
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fno-sanitize-recover=all %s -o %t 2>&1 | FileCheck %s --check-prefix=HALT
// HALT: clang-linker-wrapper
// HALT-SAME: "--defsym=__crsan_halt_on_error=1"
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fno-sanitize-recover=cuda-race -fsanitize-recover=cuda-race %s -o %t 2>&1 | FileCheck %s --check-prefix=GOON
// GOON: clang-linker-wrapper
// GOON-NOT: __crsan_halt_on_error

// RUN: not %crsan_clangxx -fsanitize=cuda-race -fsanitize-trap=cuda-race %s 2>&1 | FileCheck %s --check-prefix=TRAP
// TRAP: CRSan: '-fsanitize-trap=cuda-race' is chosen at run time: set CRSAN_OPTIONS=trap=1
int X;
