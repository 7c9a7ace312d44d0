// Intent: copies are checked in a program that makes its streams after it has launched a
// kernel and waited for it: the check of copies is loaded while the device is idle, in
// each mode. Without the wait for the kernel, the copy reads what the kernel writes.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN-NOT: copies and fills were not checked
// CLEAN: CRSan: checked 20 copies and fills of streams
// CLEAN: SUMMARY: CRSan: no data races found

// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DRACY %s -o %t.racy
// RUN: not %crsan run --device=sim %t.racy 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: CRSan: data race: {{.*}} in global memory
// RACY: SUMMARY: CRSan: {{[1-9]}} data race

constexpr int N = 1024;

__global__ void fill(int *Out) {
  for (int Round = 0; Round < 200; ++Round)
    for (int I = threadIdx.x; I < N; I += blockDim.x)
      Out[I] = Round + I;
}

int main() {
  int *From, *To;
  cudaMalloc(&From, N * sizeof(int));
  cudaMalloc(&To, N * sizeof(int));
  fill<<<1, 32>>>(From);
  cudaDeviceSynchronize();
  cudaStream_t Worker, Copier;
  cudaStreamCreateWithFlags(&Worker, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&Copier, cudaStreamNonBlocking);
  for (int Turn = 0; Turn < 20; ++Turn) {
    fill<<<1, 32, 0, Worker>>>(From);
#ifndef RACY
    cudaStreamSynchronize(Worker);
#endif
    cudaMemcpyAsync(To, From, N * sizeof(int), cudaMemcpyDeviceToDevice, Copier);
    cudaDeviceSynchronize();
  }
  return cudaGetLastError();
}
