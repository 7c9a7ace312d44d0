// Intent: threads allocate with new and malloc in a kernel, hand objects over to others
// behind cooperative groups' barrier, and others give them back.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 64;
CONSTANT Scaled<64, 2> Blocks;
CONSTANT Scaled<10, 2> Rounds;

struct Shape {
  unsigned Side;
  __device__ Shape(unsigned Side) : Side(Side) {}
  __device__ virtual ~Shape() {}
  __device__ virtual unsigned area() const = 0;
};
struct Square : Shape {
  __device__ Square(unsigned Side) : Shape(Side) {}
  __device__ unsigned area() const override { return Side * Side; }
};
struct Triangle : Shape {
  unsigned Height;
  __device__ Triangle(unsigned Side, unsigned Height)
      : Shape(Side), Height(Height) {}
  __device__ unsigned area() const override { return Side * Height / 2; }
};

__global__ void shapes(unsigned *Out) {
  cg::thread_block Block = cg::this_thread_block();
  __shared__ Shape *Made[Threads];
  __shared__ unsigned *Common;
  const unsigned T = threadIdx.x, Other = (T + 13) % Threads;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    if ((T + R) % 3)
      Made[T] = new Square(T + R);
    else
      Made[T] = new Triangle(T + R, 2 * T);
    if (T == R % Threads)
      Common = static_cast<unsigned *>(malloc(Threads * sizeof(unsigned)));
    cg::sync(Block);
    Common[T] = Made[T]->area();
    cg::sync(Block);
    Sum += Common[Other];
    delete Made[Other];
    cg::sync(Block);
    if (T == 0)
      free(Common);
    cg::sync(Block);
  }
  Out[blockIdx.x * Threads + T] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  shapes<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, Blocks * Threads, [](size_t I) {
    unsigned T = (I % Threads + 13) % Threads, Sum = 0;
    for (unsigned R = 0; R < Rounds; ++R)
      Sum += (T + R) % 3 ? (T + R) * (T + R) : (T + R) * (2 * T) / 2;
    return Sum;
  }));
}
