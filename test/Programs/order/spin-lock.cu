// Intent: plain data inside a critical section guarded by atomicCAS and
// __threadfence is not racy.
// CLEAN-ONLY
// ALSO: -O0
#include "../check.h"

constexpr int Threads = 64, Rounds = 10;
CONSTANT Scaled<32, 8> Blocks;

struct Account {
  int Lock;
  int Deposits;
  long long Balance;
};

__device__ void lock(int *Word) {
  while (atomicCAS(Word, 0, 1) != 0)
    ;
  __threadfence();
}

__device__ void unlock(int *Word) {
  __threadfence();
  atomicExch(Word, 0);
}

__global__ void deposit(Account *A) {
  if (threadIdx.x % 32 != 0)
    return;
  for (int R = 0; R < Rounds; ++R) {
    lock(&A->Lock);
    A->Deposits += 1;
    A->Balance += blockIdx.x;
    unlock(&A->Lock);
  }
}

int main() {
  Account *A = zeroed<Account>(1);
  deposit<<<Blocks, Threads>>>(A);
  Account End = download(A, 1)[0];
  constexpr int PerBlock = Rounds * Threads / 32;
  return finish(End.Deposits == PerBlock * Blocks &&
                End.Balance == PerBlock * (Blocks * (Blocks - 1) / 2));
}
