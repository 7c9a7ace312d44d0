// Intent: in metadata mode host code is judged by the order of streams: a read or write behind the launch of a kernel
// that the host has not waited for races with it though no value changes, in one stream, even if nothing is waited for
// before the program ends. What has waited is silent. What cannot be judged is counted: kernels that may tell the host
// (here by a volatile access anywhere in the unit), a call that may have waited.

// REQUIRES: plugin, host-runtime, sim
// DEFINE: %{build} = %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -fsanitize-cuda-race-host -O2 --offload-arch=sm_90 %s
// RUN: rm -rf %t && mkdir %t
// RUN: %{build} -DEARLY -o %t/early
// RUN: %{build} -DEARLY -DUNAWAITED -o %t/unawaited
// RUN: %{build} -DEARLY -DBY_HOST -o %t/writes
// RUN: %{build} -DEARLY -DSIGNALS -o %t/signals
// RUN: %{build} -DEARLY -DCUT -o %t/cut
// RUN: %{build} -o %t/waited

// RUN: not %crsan run --device=sim %t/early 2>&1 | FileCheck %s --check-prefixes=RACE,READS
// RUN: not %crsan run --device=sim %t/unawaited 2>&1 | FileCheck %s --check-prefixes=RACE,READS
// RUN: not %crsan run --device=sim %t/writes 2>&1 | FileCheck %s --check-prefixes=RACE,WRITES
// RACE: CRSan: data race: race with the host, {{[0-9]+}} bytes in global memory
// READS-NEXT: read of 4 bytes at {{.*}}host-order.cu:[[#@LINE+48]]:{{[0-9]+}} by the host:
// WRITES-NEXT: write of {{[0-9]+}} bytes at {{.*}}host-order.cu:[[#@LINE+45]]:{{[0-9]+}} by the host:
// READS: earlier write of 4 bytes at {{.*}}host-order.cu:[[#@LINE+26]]:{{[0-9]+}} by block 0 thread {{[0-9]+}}:
// WRITES: earlier read of 4 bytes at {{.*}}host-order.cu:[[#@LINE+23]]:{{[0-9]+}} by block 0 thread {{[0-9]+}}:
// RACE: launched at: {{.*}}host-order.cu:[[#@LINE+36]] in main
// RACE: memory: byte {{[0-9]+}} of 1024 bytes from cudaMallocManaged
// RACE: CRSan: host code: judged {{[1-9][0-9]*}} access{{(es)?}} by the order of streams; 0 could not be judged so
// RACE: SUMMARY: CRSan: 1 data race (1 race with the host)

// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t/signals 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t/cut 2>&1 | FileCheck %s --check-prefix=NOT
// NOT: CRSan: host code: judged 0 accesses by the order of streams; {{[1-9][0-9]*}} could not be judged so
// NOT: SUMMARY: CRSan: no data races found

// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t/waited 2>&1 | FileCheck %s --check-prefix=WAITED
// WAITED: CRSan: host code: checked 0 of 0 accesses
// WAITED-NOT: by the order of streams
// WAITED: SUMMARY: CRSan: no data races found

// The oracle agrees.
// RUN: not %crsan run --device=sim --detector=oracle %t/early
// RUN: not %crsan run --device=sim --detector=oracle %t/writes
// RUN: %crsan run --device=sim --detector=oracle %t/waited

__global__ void touch(int *Cells, int *Seen) {
#ifdef BY_HOST
  Seen[threadIdx.x] = Cells[threadIdx.x];
#else
  Cells[threadIdx.x] = 0; // As it was.
#endif
}

#ifdef SIGNALS
__global__ void signal(volatile int *Flag) { *Flag = 1; }
#endif

int main() {
  int *Cells, *Seen, Sum = 0;
  cudaMallocManaged(&Cells, 256 * sizeof(int));
  cudaMalloc(&Seen, 256 * sizeof(int));
  touch<<<1, 256>>>(Cells, Seen);
#ifndef EARLY
  cudaDeviceSynchronize();
#endif
  for (int I = 0; I < 256; ++I)
#ifdef BY_HOST
    Cells[I] = 0;
#else
    Sum += Cells[I];
#endif
#ifdef CUT
  int *More;
  cudaMalloc(&More, 16);
#endif
#ifndef UNAWAITED
  cudaDeviceSynchronize();
#endif
  return Sum;
}
