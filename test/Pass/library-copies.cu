// Intent: cuda::memcpy_async has to make visible to its bulk copy what is ordered before
// it, so a fence between the proxies counts as executed in front of the copy; of a bulk
// copy of the user's own, only behind it.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -std=c++17 -O2 --cuda-gpu-arch=sm_90 --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s

#include <cstdint>
#include <cuda/barrier>

// CHECK-LABEL: define {{.*}}by_library
// CHECK: call {{.*}}@__crsan_md_proxy_fence
// CHECK: call {{.*}}@__crsan_md_copy
// CHECK: cp.async.bulk.shared::cluster.global
__global__ void by_library(const int *In, int *Out) {
  __shared__ alignas(128) int Tile[64];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) unsigned char Place[sizeof(Barrier)];
  Barrier &Bar = reinterpret_cast<Barrier &>(Place);
  if (threadIdx.x == 0) {
    init(&Bar, blockDim.x);
    cuda::memcpy_async(Tile, In, cuda::aligned_size_t<16>(sizeof Tile), Bar);
  }
  Bar.arrive_and_wait();
  Out[threadIdx.x] = Tile[threadIdx.x];
}

// CHECK-LABEL: define {{.*}}by_hand
// CHECK-NOT: call {{.*}}@__crsan_md_proxy_fence
// CHECK: call {{.*}}@__crsan_md_copy
// CHECK: call {{.*}}@__crsan_md_proxy_fence
// CHECK: cp.async.bulk.global.shared::cta
__global__ void by_hand(int *Out) {
  __shared__ alignas(128) int Tile[64];
  Tile[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                 "cp.async.bulk.commit_group;"
                 "cp.async.bulk.wait_group 0;" ::"l"(Out),
                 "r"(uint32_t(__cvta_generic_to_shared(Tile)))
                 : "memory");
}
