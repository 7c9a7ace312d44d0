// Intent: host code that reads too early is found on the simulated GPU, by its own checks with the line of the host
// and what was pending, by the oracle with both lines; the seed repeats it; what has waited is silent.

// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir %t
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-host -O2 --offload-arch=sm_90 -DEARLY %s -o %t/early
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-host -O2 --offload-arch=sm_90 %s -o %t/waited
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DEARLY %s -o %t/unchecked

// RUN: env CRSAN_OPTIONS=watchpoints=0 not %crsan run --device=sim --seed=3 %t/early 2>&1 | FileCheck %s --check-prefix=VALUES
// VALUES: CRSan: data race: clobbered read by the host of 4 bytes in global memory
// VALUES-NEXT: #0 main at {{.*}}host-code.cu:[[#@LINE+47]]:
// VALUES-NOT: kernel:
// VALUES: memory: byte {{[0-9]+}} of 1024 bytes from cudaMallocManaged
// VALUES: Not waited for: fill(int*), launched at {{.*}}host-code.cu:[[#@LINE+39]] in main, which writes at {{.*}}host-code.cu:[[#@LINE+32]]:
// VALUES: CRSan: host code: checked {{[1-9][0-9]*}} of {{[1-9][0-9]*}} accesses
// VALUES: SUMMARY: CRSan: 1 data race (1 clobbered read)

// Where a thread of the kernel and the host meet, both lines are known.
// RUN: not %crsan run --device=sim --seed=3 %t/early 2>&1 | FileCheck %s --check-prefix=MEET
// MEET: CRSan: data race: conflicting accesses of 4 bytes in global memory
// MEET-NEXT: #0 fill at {{.*}}host-code.cu:[[#@LINE+25]]:
// MEET: conflicts with the read by the host:
// MEET-NEXT: #0 main at {{.*}}host-code.cu:[[#@LINE+35]]:
// MEET: Wait for the kernel
// MEET: SUMMARY: CRSan: 1 data race (1 conflicting accesses)

// RUN: not %crsan run --device=sim --seed=3 %t/early > %t/first.txt 2>&1
// RUN: not %crsan run --device=sim --seed=3 %t/early > %t/second.txt 2>&1
// RUN: diff %t/first.txt %t/second.txt

// RUN: not %crsan run --device=sim --detector=oracle %t/early 2>&1 | FileCheck %s --check-prefix=ORACLE
// ORACLE: CRSan: data race: race with the host, 4 bytes in global memory
// ORACLE-DAG: #0 main at {{.*}}host-code.cu:[[#@LINE+25]]:
// ORACLE-DAG: #0 fill(int*) at {{.*}}host-code.cu:[[#@LINE+12]]:
// ORACLE: CRSan: oracle checked {{[1-9][0-9]*}} accesses of host code

// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t/waited 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --detector=oracle %t/waited 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --detector=oracle %t/unchecked 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %crsan run --device=sim --detector=none %t/early
// CLEAN: CRSan: host code: checked 0 of 0 accesses of memory that a GPU might be using, of {{[0-9]+}} sites
// CLEAN: SUMMARY: CRSan: no data races found
// NONE: SUMMARY: CRSan: no data races found

__global__ void fill(int *Cells) {
  Cells[threadIdx.x] = threadIdx.x + 1;
}

int main() {
  int *Cells, Sum = 0;
  cudaMallocManaged(&Cells, 256 * sizeof(int));
  Cells[0] = 0;
  fill<<<1, 256>>>(Cells);
#ifndef EARLY
  cudaDeviceSynchronize();
#endif
  for (int I = 0; I < 256; ++I)
    Sum += Cells[I];
  cudaDeviceSynchronize();
  return Sum < 0;
}
