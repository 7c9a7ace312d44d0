// Intent: a producer warp copies asynchronously and lets its copies arrive at an
// mbarrier, on which a consumer warp waits; a second one says that a stage is empty.
// The racy twin's consumer says so before it has read.
// ARCH: sm_80
#include "../check.h"
#include <cstdint>

constexpr unsigned Stages = 2, Rounds = 6, Blocks = 2, Lanes = 32;

__device__ unsigned shared(const void *P) {
  return unsigned(__cvta_generic_to_shared(P));
}

__device__ void arrive(uint64_t *Barrier) {
  asm volatile("{\n\t.reg .b64 State;\n\t"
               "mbarrier.arrive.shared.b64 State, [%0];\n\t}" ::"r"(shared(Barrier))
               : "memory");
}

__device__ void wait(uint64_t *Barrier, unsigned Parity) {
  unsigned IsOver;
  do
    asm volatile("{\n\t.reg .pred P;\n\t"
                 "mbarrier.test_wait.parity.shared.b64 P, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, P;\n\t}"
                 : "=r"(IsOver)
                 : "r"(shared(Barrier)), "r"(Parity)
                 : "memory");
  while (!IsOver);
}

__device__ void copy(uint4 *To, const uint4 *From, uint64_t *Full) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared(To)), // RACE
               "l"(From)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared(Full))
               : "memory");
}

__global__ void sum(const uint4 *In, unsigned *Out) {
  __shared__ uint4 Buffers[Stages][Lanes];
  __shared__ uint64_t Full[Stages], Empty[Stages];
  unsigned T = threadIdx.x, Lane = T % Lanes, Sum = 0;
  if (T < Stages) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared(&Full[T])) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared(&Empty[T])) : "memory");
  }
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Stage = R % Stages, Turn = R / Stages;
    if (T < Lanes) {
      if (Turn > 0)
        wait(&Empty[Stage], (Turn - 1) % 2);
      copy(&Buffers[Stage][Lane], &In[R * Lanes + Lane], &Full[Stage]);
    } else {
      wait(&Full[Stage], Turn % 2);
#ifdef RACY
      arrive(&Empty[Stage]);
#endif
      uint4 Cell = Buffers[Stage][Lanes - 1 - Lane]; // RACE
      Sum += Cell.x + Cell.w;
#ifndef RACY
      arrive(&Empty[Stage]);
#endif
    }
  }
  if (T >= Lanes)
    Out[blockIdx.x * Lanes + Lane] = Sum;
}

int main() {
  std::vector<uint4> In;
  for (unsigned I = 0; I < Rounds * Lanes; ++I)
    In.push_back(make_uint4(I, 0, 0, 1));
  unsigned *Out = zeroed<unsigned>(Blocks * Lanes);
  sum<<<Blocks, 2 * Lanes>>>(upload(In), Out);
  return finish(matches(Out, Blocks * Lanes, [](size_t I) {
    return unsigned(Lanes * Rounds * (Rounds - 1) / 2 + Rounds * (Lanes - I % Lanes));
  }));
}
