// Intent: our own options reach the pass on the device side, and a wrong one is an
// error that names the nearest.

// RUN: rm -rf %t && split-file %s %t
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fsanitize-cuda-race-mode=collider \
// RUN:   "-fsanitize-ignorelist=%t/a b.txt" -fsanitize-ignorelist=%t/c.txt \
// RUN:   -mllvm -crsan-first=1 -mllvm=-crsan-second=2 \
// RUN:   -c %t/x.cu -o %t/x.o 2>&1 | FileCheck %t/x.cu
// RUN: not %crsan_clangxx -fsanitize=cuda-race -fsanitize-ignorelist=%t/none.txt -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=NOLIST
// RUN: %crsan_clangxx -### -fsanitize=cuda-race,undefined -fsanitize-ignorelist=%t/c.txt -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=BOTH
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fsanitize-cuda-race-mode=collider -fsanitize-cuda-race-mode=metadata -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=METADATA
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=HYBRID
// RUN: %crsan_clangxx -### -fsanitize=cuda-race -fsanitize-cuda-race-mode=hybrid -fsanitize-cuda-race-mode=collider -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=COLLIDER
// RUN: not %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=colider -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=MODE
// RUN: not %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-compat-heder -c %t/x.cu 2>&1 | FileCheck %t/x.cu --check-prefix=NEAR

//--- a b.txt
fun:f
//--- c.txt
fun:g
//--- x.cu
int X;
// CHECK: "nvptx64-nvidia-cuda"
// CHECK-SAME: "-mllvm" "-crsan-ignorelist={{[^"]*}}a b.txt"
// CHECK-SAME: "-mllvm" "-crsan-ignorelist={{[^"]*}}c.txt"
// CHECK-SAME: "-mllvm" "-crsan-first=1" "-mllvm" "-crsan-second=2"
// CHECK: "x86_64
// CHECK-NOT: -crsan-

// BOTH: "nvptx64-nvidia-cuda"
// BOTH-SAME: "-crsan-ignorelist={{[^"]*}}c.txt"
// BOTH: "x86_64
// BOTH-SAME: "-fsanitize-ignorelist={{[^"]*}}c.txt"

// NOLIST: CRSan: ignorelist '{{.*}}none.txt' does not exist; correct -fsanitize-ignorelist=
// METADATA: "nvptx64-nvidia-cuda"
// METADATA-SAME: "-mllvm" "-crsan-mode=metadata"
// METADATA: "x86_64
// METADATA-NOT: -crsan-
// HYBRID: "-mllvm" "-crsan-mode=hybrid"
// COLLIDER-NOT: -crsan-mode
// MODE: CRSan: '-fsanitize-cuda-race-mode=colider': choose collider, metadata, hybrid{{$}}
// NEAR: CRSan: unknown option '-fsanitize-cuda-race-compat-heder'; did you mean '-fsanitize-cuda-race-compat-header'?
