// Intent: host code has nvcc's min and max in the global namespace, with nvcc's
// results; they stand aside for the user's own and for std's.

// DEFINE: %{clang} = %clangxx --cuda-path=%cuda_path -Wno-unknown-cuda-version -Wall -Wextra -Werror -include %crsan_src/include/crsan/cuda_compat.h --offload-arch=sm_75
// RUN: rm -rf %t && split-file %s %t
// RUN: %{clang} -O0 -c %t/own.cu -o %t/own.o
// RUN: %{clang} -O2 -c %t/std.cu -o %t/std.o
// RUN: %{clang} -O2 -c %t/using.cu -o %t/using.o
// RUN: %{clang} -O2 %t/values.cu -o %t/values -L%cuda_path/lib64 -lcudart_static -ldl -lrt -lpthread
// RUN: %t/values
// RUN: not %clangxx --cuda-path=%cuda_path -Wno-unknown-cuda-version -fsyntax-only --offload-arch=sm_75 %t/values.cu

//--- own.cu
#include <algorithm>
using namespace std;
static inline int min(int A, int B) { return A < B ? A : B; }
template <typename T> static T max(T A, T B) { return A > B ? A : B; }
struct Key {
  int V;
  bool operator<(const Key &O) const { return V < O.V; }
};
__global__ void k(int *P, float *F) {
  P[0] = min(P[0], P[1]);
  F[0] = max(F[0], F[1]);
}
int use() {
  Key A{1}, B{2};
  short S = 1;
  return min(1, 2) + max(3, 4) + min<int>(3, 4) + std::min(A, B).V +
         min(A, B).V + std::min({1, 2, 3}) + min(S, S) + (int)max(1.f, 2.f);
}

//--- std.cu
#include <algorithm>
#include <string>
using namespace std;
__global__ void k(int *P) { P[1] = max(P[0], (int)threadIdx.x); }
long use(size_t N, unsigned char C, short S, string Text) {
  return min(1, 2) + min((size_t)5, N) + (int)max(1.f, 2.f) + min(3L, 4L) +
         min(C, C) + max(S, S) + min(Text, Text).size();
}

//--- using.cu
#include <algorithm>
using std::max;
using std::min;
__device__ __host__ inline float limit(float V, float A, float B) {
  return min(max(V, A), B);
}
__global__ void k(float *P) { P[0] = limit(P[0], P[1], P[2]); }
float use() { return min(1, 2) + limit(1, 2, 3) + min(2u, 3u); }

//--- values.cu
#include <cmath>
#include <cstddef>
__host__ __device__ double both(int I, unsigned U, long L, size_t S,
                                unsigned long long Q, float F, double D) {
  return min(I, I) + max(U, I) + min(L, L) + min(S, S) + max(L, (long)S) +
         max(Q, Q) + min(F, F) + max(F, D) + min(D, F) + max(D, D);
}
__global__ void k(double *P) { *P = both(1, 2, 3, 4, 5, 6, 7); }
int main() {
  bool Ok = min(-1, 2u) == 2 && max(-1, 2u) == ~0u && min(1.0f, NAN) == 1.0f &&
            max((double)NAN, 2.0f) == 2.0 && min(2.5f, 2.25) == 2.25 &&
            both(1, 2, 3, 4, 5, 6, 7) == 1 + 2 + 3 + 4 + 4 + 5 + 6 + 7 + 6 + 7;
  return Ok ? 0 : 1;
}
