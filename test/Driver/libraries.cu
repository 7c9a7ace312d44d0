// Intent: cooperative groups, CUB, libcu++, Thrust, asynchronous copies and
// matrix fragments, which come with the toolkit, compile and link.

// REQUIRES: plugin, host-runtime
// RUN: %crsan_clangxx -fsanitize=cuda-race -Wall -O2 --offload-arch=sm_80 \
// RUN:   %s -o %t 2>&1 | count 0

#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/atomic>
#include <cuda/std/complex>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
namespace cg = cooperative_groups;
__global__ void group(int *p, const __half *h) {
  cg::thread_block b = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(b);
  int s = cg::reduce(tile, p[b.thread_rank()], cg::plus<int>());
  b.sync();
  if (tile.thread_rank() == 0)
    p[0] = s + (int)__half2float(__ldcg(h));
  assert(s >= 0);
  printf("%d\n", s);
}
__global__ void grid(int *p) {
  cg::this_grid().sync();
  p[0] = 1;
}
__global__ void scan(int *p) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage temp;
  int v = p[threadIdx.x];
  Scan(temp).ExclusiveSum(v, v);
  p[threadIdx.x] = v;
}
__global__ void atom(int *p, cuda::std::atomic<int> *q) {
  cuda::atomic_ref<int, cuda::thread_scope_device> r(*p);
  r.fetch_add(1, cuda::memory_order_acq_rel);
  q->store(1);
}
__global__ void bar() {
  using B = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(B) unsigned char m[sizeof(B)];
  B &b = *reinterpret_cast<B *>(m);
  if (threadIdx.x == 0)
    init(&b, blockDim.x);
  __syncthreads();
  b.arrive_and_wait();
}
__global__ void async(const int *p, int *o) {
  __shared__ int s[32];
  __pipeline_memcpy_async(&s[threadIdx.x], &p[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  o[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void wm(half *a, float *c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
int main() {
  thrust::device_vector<int> v(1000);
  thrust::sort(v.begin(), v.end());
  int *p;
  cudaMalloc(&p, 4096);
  scan<<<1, 128>>>(p);
  return min(1, 0);
}
