// Intent: a matrix is transposed in place by one thread an element instead of
// one thread a pair.
#include "../check.h"

CONSTANT Scaled<256, 128> N;

__global__ void transpose(unsigned *A) {
  unsigned Column = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Row = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef RACY
  unsigned Value = A[Column * N + Row]; // RACE
  A[Row * N + Column] = Value;          // RACE
#else
  if (Row < Column) {
    unsigned Value = A[Column * N + Row];
    A[Column * N + Row] = A[Row * N + Column];
    A[Row * N + Column] = Value;
  }
#endif
}

int main() {
  std::vector<unsigned> Start(N * N);
  for (unsigned I = 0; I < N * N; ++I)
    Start[I] = I;
  unsigned *A = upload(Start);
  transpose<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(A);
  return finish(
      matches(A, N * N, [](size_t I) { return I % N * N + I / N; }));
}
