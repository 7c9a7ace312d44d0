// Intent: a thread starts bulk copies, which complete at an mbarrier, and a warp uses
// what has come and says when a stage is empty. The racy twin says so before it has read.
// ARCH: sm_90
#include "../check.h"

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
                 "mbarrier.try_wait.parity.shared.b64 P, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, P;\n\t}"
                 : "=r"(IsOver)
                 : "r"(shared(Barrier)), "r"(Parity)
                 : "memory");
  while (!IsOver);
}

__device__ void copy(unsigned *To, const unsigned *From, uint64_t *Full) {
  constexpr unsigned Bytes = Lanes * sizeof(unsigned);
  asm volatile("{\n\t.reg .b64 State;\n\t"
               "mbarrier.arrive.expect_tx.shared.b64 State, [%0], %1;\n\t}" ::"r"(
                   shared(Full)),
               "r"(Bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " // RACE
               "[%0], [%1], %2, [%3];" ::"r"(shared(To)),
               "l"(From), "r"(Bytes), "r"(shared(Full))
               : "memory");
}

__global__ void sum(const unsigned *In, unsigned *Out) {
  __shared__ alignas(128) unsigned Buffers[Stages][Lanes];
  __shared__ uint64_t Full[Stages], Empty[Stages];
  unsigned T = threadIdx.x, Lane = T % Lanes, Sum = 0;
  if (T < Stages) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&Full[T])) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared(&Empty[T])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    unsigned Stage = R % Stages, Turn = R / Stages;
    if (T == Lanes) {
      if (Turn > 0)
        wait(&Empty[Stage], (Turn - 1) % 2);
      copy(Buffers[Stage], In + R * Lanes, &Full[Stage]);
    } else if (T < Lanes) {
      wait(&Full[Stage], Turn % 2);
#ifdef RACY
      arrive(&Empty[Stage]);
#endif
      Sum += Buffers[Stage][Lanes - 1 - Lane]; // RACE
#ifndef RACY
      arrive(&Empty[Stage]);
#endif
    }
  }
  if (T < Lanes)
    Out[blockIdx.x * Lanes + Lane] = Sum;
}

int main() {
  std::vector<unsigned> In;
  for (unsigned I = 0; I < Rounds * Lanes; ++I)
    In.push_back(I);
  unsigned *Out = zeroed<unsigned>(Blocks * Lanes);
  sum<<<Blocks, 2 * Lanes>>>(upload(In), Out);
  return finish(matches(Out, Blocks * Lanes, [](size_t I) {
    return unsigned(Lanes * Rounds * (Rounds - 1) / 2 + Rounds * (Lanes - 1 - I % Lanes));
  }));
}
