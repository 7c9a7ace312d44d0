// Intent: two threads add to the same data under a lock made of a compare-and-
// swap, a fence, another and an exchange; or something is missing or too narrow.
// FIXED: device
// FIXED: device-in-block -DBLOCKS=1
// FIXED: block -DBLOCKS=1 -DBLOCK_LOCK
// FIXED: acquire-release -DLOCKED=ordered
// FIXED: nested -DLEFT=nested -DRIGHT=nested
// RACY: no-lock -DLEFT=unlocked -DRIGHT=unlocked
// RACY: one-side-unlocked -DRIGHT=unlocked
// RACY: unlocked-read -DRIGHT=unlockedRead
// RACY: two-locks -DRIGHT_LOCK=1
// RACY: block-lock -DBLOCK_LOCK
// RACY: block-swap -DCAS=atomicCAS_block
// RACY: block-exchange -DEXCHANGE=atomicExch_block
// RACY: block-acquire-fence -DACQUIRE_FENCE=__threadfence_block
// RACY: block-release-fence -DRELEASE_FENCE=__threadfence_block
// RACY: no-acquire-fence -DACQUIRE_FENCE=nothing
// RACY: no-release-fence -DRELEASE_FENCE=nothing
// RACY: in-block-no-fences -DBLOCKS=1 -DBLOCK_LOCK -DFENCE=nothing
// UNSEEN: collider (block-acquire-fence block-exchange block-lock block-release-fence block-swap in-block-no-fences no-acquire-fence no-release-fence): no value changes while a check looks at it
#include <cuda/atomic>

#include "two-threads.h"

#ifdef BLOCK_LOCK
#define CAS atomicCAS_block
#define EXCHANGE atomicExch_block
#endif
#ifndef CAS
#define CAS atomicCAS
#endif
#ifndef EXCHANGE
#define EXCHANGE atomicExch
#endif
#if defined(BLOCK_LOCK) && !defined(FENCE)
#define FENCE __threadfence_block
#endif
#ifndef FENCE
#define FENCE __threadfence
#endif
#ifndef ACQUIRE_FENCE
#define ACQUIRE_FENCE FENCE
#endif
#ifndef RELEASE_FENCE
#define RELEASE_FENCE FENCE
#endif
#ifndef LOCKED
#define LOCKED locked
#endif
#ifndef LEFT
#define LEFT LOCKED
#endif
#ifndef RIGHT
#define RIGHT LOCKED
#endif
#ifndef RIGHT_LOCK
#define RIGHT_LOCK 0
#endif

CONSTANT Scaled<200, 20> Rounds;

struct Account {
  unsigned Locks[2];
  unsigned OwnLocks[Sides];
  unsigned Balance;
};

__device__ void acquire(unsigned *Lock) {
  while (CAS(Lock, 0, 1) != 0) // RACE: block-lock block-swap block-exchange
    ;
  ACQUIRE_FENCE();
}

__device__ void release(unsigned *Lock) {
  RELEASE_FENCE();
  EXCHANGE(Lock, 0); // RACE: block-lock block-swap block-exchange
}

/// A call, so that no compiler adds only once.
__device__ __noinline__ void add(unsigned *Balance) {
  *Balance += 1; // RACE
}

__device__ void locked(Account *A, unsigned Side, unsigned *) {
  unsigned *Lock = &A->Locks[Side * RIGHT_LOCK];
  acquire(Lock);
  add(&A->Balance);
  release(Lock);
}

__device__ void nested(Account *A, unsigned Side, unsigned *Out) {
  acquire(&A->OwnLocks[Side]);
  locked(A, Side, Out);
  release(&A->OwnLocks[Side]);
}

__device__ void ordered(Account *A, unsigned, unsigned *) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> Lock(A->Locks[0]);
  while (Lock.exchange(1, cuda::memory_order_acquire) != 0)
    ;
  add(&A->Balance);
  Lock.store(0, cuda::memory_order_release);
}

__device__ void unlocked(Account *A, unsigned, unsigned *) { add(&A->Balance); }

__device__ void unlockedRead(Account *A, unsigned, unsigned *Out) {
  *Out = A->Balance; // RACE: unlocked-read
}

__global__ void deposit(Account *A, Meeting *Meet, unsigned *Out) {
  unsigned Side = side();
  if (Side == Sides)
    return;
  Meet->wait();
  for (unsigned R = 0; R < Rounds; ++R) {
    if (Side == 0)
      LEFT(A, Side, &Out[Side]);
    else
      RIGHT(A, Side, &Out[Side]);
    Meet->pause(Side);
  }
}

int main() {
  Account *A = zeroed<Account>(1);
  deposit<<<BLOCKS, ThreadsPerBlock>>>(A, zeroed<Meeting>(1),
                                       zeroed<unsigned>(Sides));
  return finish(download(A, 1)[0].Balance == Sides * Rounds);
}
