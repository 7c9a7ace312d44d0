// Intent: metadata mode follows one launch no longer than follow_launch_ms. The rest of the launch computes
// the same, ends, and is not checked: neither are its races told, nor does anything become a race because
// its synchronisation goes unnoticed. What was found before stays, and later launches are followed.
// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 %s -o %t

// RUN: env CRSAN_OPTIONS=follow_launch_ms=5:verbosity=1 %crsan run --device=sim --seeds 1-3 %t none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: CRSan: 3 runs, 0 of them with findings
// NONE: metadata mode checked at most {{[0-9]+}} accesses
// NONE: CRSan: metadata mode left out to save time: the rest of {{[0-9]+}} long kernel launches; CRSAN_OPTIONS=effort=thorough follows all
// NONE: no data races found in what was checked ({{[0-9]+}} kernel launches followed in part)

// RUN: env CRSAN_OPTIONS=follow_launch_ms=5 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-3 %t first 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: CRSan: data race: race between blocks
// FIRST: CRSan: 3 runs, 3 of them with findings

// Its race comes after that time.
// RUN: env CRSAN_OPTIONS=follow_launch_ms=5 %crsan run --device=sim --seeds 1-3 %t last 2>&1 | FileCheck %s --check-prefix=LAST --implicit-check-not="data race:"
// LAST: CRSan: 3 runs, 0 of them with findings
// RUN: env CRSAN_OPTIONS=follow_launch_ms=0 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-3 %t last 2>&1 | FileCheck %s --check-prefix=FIRST

// RUN: env CRSAN_OPTIONS=follow_launch_ms=5 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-3 %t next 2>&1 | FileCheck %s --check-prefix=FIRST

// Whether the launch that was stopped has ended is not known without a device synchronisation: it might have
// ordered what looks like a race of another stream.
// RUN: env CRSAN_OPTIONS=follow_launch_ms=5 %crsan run --device=sim --seeds 1-3 %t beside 2>&1 | FileCheck %s --check-prefix=BESIDE --implicit-check-not="data race:"
// BESIDE: CRSan: metadata mode did not tell of what looked like a race {{[0-9]+}} times: a kernel launch that was not followed, or not to its end, may have ordered the accesses; a device synchronisation behind that launch, or CRSAN_OPTIONS=effort=thorough, rules that out
// BESIDE: possible races not told {{[0-9]+}} times
// RUN: env CRSAN_OPTIONS=follow_launch_ms=5 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-3 %t behind 2>&1 | FileCheck %s --check-prefix=FIRST

#include <cooperative_groups.h>
#include <cstdio>
#include <string>

namespace cg = cooperative_groups;
constexpr unsigned Threads = 64, Blocks = 4, Size = Threads * Blocks, Rounds = 30;

__device__ unsigned Last;

// Each block adds to its numbers those that another block has written in the round before. In round Racy
// all threads write to one place.
__global__ void exchange(unsigned *Data, unsigned Rounds, unsigned Racy) {
  const unsigned Me = blockIdx.x * blockDim.x + threadIdx.x, Other = (Me + blockDim.x) % Size;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    const unsigned Sum = Data[Me] + Data[Other];
    cg::this_grid().sync();
    Data[Me] = Sum;
    cg::this_grid().sync();
    if (Round == Racy)
      Last = Me;
  }
}

__global__ void collide() { Last = threadIdx.x; }

// In a stream that the program creates now.
static void launchElsewhere() {
  cudaStream_t Other;
  cudaStreamCreateWithFlags(&Other, cudaStreamNonBlocking);
  collide<<<2, Threads, 0, Other>>>();
}

static void launch(unsigned *Data, unsigned Number, unsigned Racy) {
  void *Arguments[] = {&Data, &Number, &Racy};
  cudaLaunchCooperativeKernel(reinterpret_cast<void *>(exchange), Blocks, Threads, Arguments, 0, 0);
}

int main(int, char **Words) {
  const std::string What = Words[1];
  unsigned *Data, Found[Size];
  for (unsigned &Each : Found)
    Each = 1;
  cudaMalloc(&Data, sizeof(Found));
  cudaMemcpy(Data, Found, sizeof(Found), cudaMemcpyHostToDevice);
  launch(Data, Rounds, What == "first" ? 0 : What == "last" ? Rounds - 1 : Rounds);
  if (What == "behind")
    cudaDeviceSynchronize();
  if (What == "beside")
    cudaStreamSynchronize(nullptr);
  if (What == "behind" || What == "beside")
    launchElsewhere();
  launch(Data, 1, What == "next" ? 0 : Rounds);
  cudaMemcpy(Found, Data, sizeof(Found), cudaMemcpyDeviceToHost);
  for (unsigned Each : Found)
    if (Each != 1u << (Rounds + 1))
      return std::puts("wrong"), 1;
  std::puts("right");
}
