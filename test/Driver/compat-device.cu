// Intent: nan, virtual functions (the pure ones and the deleting destructor), new
// and delete in device code, cooperative groups' clusters.

// DEFINE: %{clang} = %clangxx --cuda-path=%cuda_path -Wno-unknown-cuda-version -Wall -Wextra -include %crsan_src/include/crsan/cuda_compat.h
// RUN: %{clang} -Werror --offload-arch=sm_75 -O0 -c %s -o %t.o
// RUN: %{clang} -Werror --offload-arch=sm_90 -O3 -c %s -o %t.o
// RUN: %{clang} -Werror --offload-arch=sm_90 -fgpu-rdc -c %s -o %t.o
// RUN: %{clang} -Werror --offload-arch=sm_90 -DTHIS_CLUSTER -isystem %cuda_path/include/cccl -c %s -o %t.o

#include <cmath>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual double area() const = 0;
};
struct Square : Shape {
  double Side;
  __device__ Square(double S) : Side(S) {}
  __device__ double area() const override { return Side * Side; }
};

__global__ void areas(double *P) {
  Shape *S = new Square(P[0]);
  P[0] = S->area();
  delete S;
  int *Array = new int[3];
  Array[0] = 1;
  P[1] = Array[0];
  delete[] Array;
}

__global__ void nans(double *P, float *Q) {
  P[0] = nan("");
  P[1] = std::nan("");
  Q[0] = nanf("");
}

#ifdef THIS_CLUSTER
#include <cooperative_groups.h>
__global__ void neighbours(int *P) {
  __shared__ int Own;
  auto Cluster = cooperative_groups::this_cluster();
  Own = threadIdx.x;
  Cluster.sync();
  P[0] = *Cluster.map_shared_rank(&Own, Cluster.block_rank() ^ 1);
  Cluster.sync();
}
#endif
