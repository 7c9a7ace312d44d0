// Intent: sm_75 with PTX where there is no GPU, several architectures as asked, none below
// sm_70; relocatable code, which carries no PTX, says what it will run on.

// RUN: %crsan_clangxx -### -fsanitize=cuda-race --cuda-gpu-arch=sm_80 --offload-arch=sm_90,sm_100 -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SEVERAL --implicit-check-not=sm_75 --implicit-check-not=warning:
// SEVERAL: fatbinary"
// SEVERAL-SAME: kind=elf,sm=100{{.*}}kind=ptx,sm=100
// SEVERAL-SAME: kind=elf,sm=80{{.*}}kind=ptx,sm=80
// SEVERAL-SAME: kind=elf,sm=90{{.*}}kind=ptx,sm=90

// RUN: not %crsan_clangxx -fsanitize=cuda-race --offload-arch=sm_90,sm_60 -c %s 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: CRSan: 'sm_60' is older than sm_70, the oldest that CRSan works on {{.*}}; write --offload-arch=sm_75 or newer

// RUN: %crsan_clangxx -### -fsanitize=cuda-race --offload-arch=sm_60 --no-offload-arch=sm_60 -c %s 2>&1 | FileCheck %s --check-prefix=TAKENBACK --implicit-check-not=sm_60
// TAKENBACK: "-target-cpu" "sm_{{[0-9]+}}

// RUN: %crsan_clangxx -### -fsanitize=cuda-race --offload-arch=sm_90 -fgpu-rdc -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=RDC
// RDC-NOT: warning:
// RDC: "-target-cpu" "sm_90"
int X;
