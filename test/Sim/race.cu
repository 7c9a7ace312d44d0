// Intent: an instrumented program's race is found on the simulated GPU, with its line, the
// exit code and the line that replays it; the fixed twin is clean, and says what was checked.

// REQUIRES: plugin, host-runtime, sim
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --seed 3 %t 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: CRSan: data race:
// RACY-NEXT: #0 count{{.*}} at {{.*}}race.cu:[[#@LINE+15]]:
// RACY: replay: CRSAN_OPTIONS=seed=3:schedule=random crsan run --device=sim {{.*}}race.cu.tmp
// RACY: SUMMARY: CRSan: {{[1-9]}} data race
// RUN: env CRSAN_OPTIONS=effort=light:launch_one_in=1 %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --seed 3 %t 2>&1 | FileCheck %s --check-prefix=EFFORT
// EFFORT: replay: CRSAN_OPTIONS=seed=3:schedule=random:launch_first=0:{{.*}}:overhead=10:{{.*}} crsan run

// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DFIXED %s -o %t.fixed
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run %t.fixed 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: checked 1 kernel launch
// CLEAN: SUMMARY: CRSan: no data races found

__global__ void count(unsigned *Counter, unsigned *Own) {
#ifdef FIXED
  atomicAdd(Counter, 1u);
#else
  *Counter += 1;
#endif
  Own[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

int main() {
  unsigned *Counter, *Own;
  cudaMalloc(&Counter, 4);
  cudaMalloc(&Own, 1024 * 4);
  cudaMemset(Counter, 0, 4);
  cudaMemset(Own, 0, 1024 * 4);
  count<<<8, 128>>>(Counter, Own);
  return cudaDeviceSynchronize();
}
