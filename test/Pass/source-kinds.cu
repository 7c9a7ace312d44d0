// Intent: weak accesses of a CUDA program are checked; atomics, volatiles and locals are not.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --cuda-device-only --cuda-gpu-arch=sm_80 \
// RUN:   -S -emit-llvm %s -o - | FileCheck %s

// CHECK-LABEL: define{{.*}} ptx_kernel void @weak(
// CHECK: @__crsan_check({{.*}}, i32 1)
// CHECK: ret void
extern "C" __global__ void weak(int *p) { *p = 1; }

// CHECK-LABEL: define{{.*}} ptx_kernel void @strong(
// CHECK-NOT: @__crsan_check
// CHECK: ret void
extern "C" __global__ void strong(int *p, volatile int *v) {
  atomicAdd(p, 1);
  *v = 1;
}

// CHECK-LABEL: define{{.*}} ptx_kernel void @barrier(
// CHECK: @__crsan_check({{.*}}, i32 1)
// CHECK: barrier
// CHECK: @__crsan_check({{.*}}, i32 2)
// CHECK: ret void
extern "C" __global__ void barrier(int *p) {
  __shared__ int s[64];
  s[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  p[threadIdx.x] = s[63 - threadIdx.x];
}
