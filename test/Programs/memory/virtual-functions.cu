// Intent: one thread makes objects of two classes in shared memory, whose virtual
// functions all threads call. In the racy twin they do not wait until they are made.
#include "../check.h"
#include <new>

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;

struct Shape {
  unsigned Size;
  __device__ explicit Shape(unsigned Size) : Size(Size) {} // RACE
  __device__ virtual unsigned area() const = 0;
};

struct Square : Shape {
  __device__ explicit Square(unsigned Size) : Shape(Size) {} // RACE
  __device__ unsigned area() const override { return Size * Size; } // RACE
};

struct Circle : Shape {
  __device__ explicit Circle(unsigned Size) : Shape(Size) {} // RACE
  __device__ unsigned area() const override { return 3 * Size * Size; } // RACE
};

__global__ void measure(unsigned *Out) {
  __shared__ alignas(Square) char Square_[sizeof(Square)];
  __shared__ alignas(Circle) char Circle_[sizeof(Circle)];
  __shared__ Shape *Shapes[2];
#ifdef RACY
  // So that there is something to call.
  if (threadIdx.x == Threads - 1) {
    Shapes[0] = new (Square_) Square(1);
    Shapes[1] = new (Circle_) Circle(1);
  }
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    Shapes[0] = new (Square_) Square(blockIdx.x + 2); // RACE
    Shapes[1] = new (Circle_) Circle(blockIdx.x + 3); // RACE
  }
#ifndef RACY
  __syncthreads();
#endif
  const Shape *S = Shapes[threadIdx.x % 2]; // RACE
  Out[blockIdx.x * Threads + threadIdx.x] = S->area() + threadIdx.x; // RACE
}

int main() {
  unsigned *Out = zeroed<unsigned>(N);
  measure<<<Blocks, Threads>>>(Out);
  return finish(matches(Out, N, [](size_t I) {
    unsigned Block = I / Threads, T = I % Threads;
    unsigned Area = T % 2 ? 3 * (Block + 3) * (Block + 3) : (Block + 2) * (Block + 2);
    return Area + T;
  }));
}
