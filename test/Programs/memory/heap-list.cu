// Intent: nodes from the in-kernel heap are handed to another block, which reads and
// frees them, so that the memory comes back to whoever allocates next.
// UNSEEN: metadata: on hardware, memory of the in-kernel heap has no shadow
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Items = 12, Pairs = 2;

struct Node {
  unsigned Value, Twice;
};

struct Channel {
  uint64_t Item; // The address of a node, or zero.
  unsigned Sum;
};

__global__ void pass(Channel *Channels) {
  Channel &C = Channels[blockIdx.x / 2];
  for (unsigned I = 0; I < Items; ++I)
    if (blockIdx.x % 2 == 0) {
      auto *N = static_cast<Node *>(malloc(sizeof(Node)));
      N->Value = I;     // RACE
      N->Twice = 2 * I; // RACE
      while (LOAD64(acquire, &C.Item) != 0)
        ;
      STORE64(RELEASE_UNLESS_RACY, &C.Item, N);
    } else {
      uint64_t Item;
      while ((Item = LOAD64(acquire, &C.Item)) == 0)
        ;
      auto *N = reinterpret_cast<Node *>(Item);
      C.Sum += N->Value + N->Twice; // RACE
      STORE64(release, &C.Item, 0);
      free(N);
    }
}

int main() {
  Channel *C = zeroed<Channel>(Pairs);
  pass<<<2 * Pairs, 1>>>(C);
  std::vector<Channel> Host = download(C, Pairs);
  bool Right = true;
  for (const Channel &Each : Host)
    Right &= Each.Sum == 3 * Items * (Items - 1) / 2;
  return finish(Right);
}
