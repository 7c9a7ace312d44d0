// Intent: host and device pass messages through mapped host memory with volatile
// flags and system fences; that is not racy.
// CLEAN-ONLY
#include "../check.h"
#include <atomic>

CONSTANT Scaled<50, 2> Rounds;

struct Mailbox {
  unsigned ToDevice, ToHost, Question, Answer;
};

__global__ void answer(Mailbox *Box) {
  volatile unsigned *ToDevice = &Box->ToDevice, *ToHost = &Box->ToHost;
  for (unsigned R = 1; R <= Rounds; ++R) {
    while (*ToDevice != R)
      ;
    __threadfence_system();
    Box->Answer = 2 * Box->Question;
    __threadfence_system();
    *ToHost = R;
  }
}

int main() {
  Mailbox *Box;
  CHECK(cudaHostAlloc(&Box, sizeof(Mailbox), cudaHostAllocMapped));
  memset(Box, 0, sizeof(Mailbox));
  answer<<<1, 1>>>(Box);
  CHECK(cudaGetLastError());
  volatile unsigned *ToDevice = &Box->ToDevice, *ToHost = &Box->ToHost;
  bool Right = true;
  for (unsigned R = 1; R <= Rounds; ++R) {
    Box->Question = R;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *ToDevice = R;
    while (*ToHost != R)
      ;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    Right &= Box->Answer == 2 * R;
  }
  return finish(Right);
}
