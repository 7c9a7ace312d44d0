// Intent: macros of the command line that have the names of parameters in headers which clang includes, and nvcc does
// not, compile as with nvcc; they have their values in the user's code, which finds CUDA's headers as before.

// REQUIRES: plugin, nvcc
// DEFINE: %{macros} = -DN=8 -DV=1 -DX=2 -DY=3
// RUN: %crsan_clangxx -fsanitize=cuda-race %{macros} -O2 -fsyntax-only -Werror %s
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata %{macros} -O2 -c %s -o %t.o -MMD -MF %t.d
// RUN: FileCheck %s --check-prefix=DEPS --input-file=%t.d
// DEPS: macro-names.cu
// DEPS-NOT: runtime_wrapper
// RUN: %crsan_clangxx -arch=sm_90 %{macros} -c %s -o %t.o
// Without the macros, there are none.
// RUN: %crsan_clangxx -fsanitize=cuda-race -DNONE -O2 -fsyntax-only -Werror %s

#include <cuda.h>

#ifdef NONE
#if defined(N) || defined(V) || defined(X) || defined(Y)
#error a macro that nobody has defined
#endif
#define N 8
#define V 1
#define X 2
#define Y 3
#endif

__global__ void fill(float *Out) {
  static_assert(N == 8 && V == 1 && X == 2 && Y == 3, "");
  __shared__ float Tile[N];
  if (threadIdx.x < N)
    Tile[threadIdx.x] = V * X + Y;
  __syncthreads();
  Out[threadIdx.x] = Tile[threadIdx.x % N];
}
int main() { fill<<<X, N>>>(nullptr); }
