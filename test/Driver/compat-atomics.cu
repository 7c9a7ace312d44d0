// Intent: __nv_atomic_* become LLVM's atomics with their order, which of a
// read-modify-write only fences preserve. (Clang 22 drops the scope for NVPTX, also
// from its own __scoped_atomic_*: it is the system's.)

// DEFINE: %{clang} = %clangxx --cuda-path=%cuda_path -Wno-unknown-cuda-version -Wall -Wextra -Wpedantic -Werror -include %crsan_src/include/crsan/cuda_compat.h
// RUN: %{clang} --offload-arch=sm_75 -O0 -c %s -o %t.o
// RUN: %{clang} --offload-arch=sm_90 -O2 -c %s -o %t.o
// RUN: %{clang} --offload-arch=sm_90 -O1 --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s

__global__ void integers(int *P, const int *Q, int *R) {
  // CHECK-LABEL: define {{.*}}integers
  // CHECK: load atomic i32, {{.*}}acquire
  *R = __nv_atomic_load_n(Q, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  // CHECK: store atomic i32 {{.*}}release
  __nv_atomic_store_n(P, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  // No scope: the system's.
  // CHECK: fence {{.*}}release
  // CHECK: atomicrmw xchg {{.*}}monotonic
  // CHECK: fence {{.*}}acquire
  *R += __nv_atomic_exchange_n(P, 2, __NV_ATOMIC_ACQ_REL);
  int Old = 1;
  // CHECK: cmpxchg {{.*}}seq_cst monotonic
  *R += __nv_atomic_compare_exchange_n(
      P, &Old, 2, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED,
      __NV_THREAD_SCOPE_DEVICE);
  // CHECK: atomicrmw add {{.*}} monotonic
  *R += __nv_atomic_fetch_add(P, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_add(P, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_sub(P, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_and(P, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_CLUSTER);
  __nv_atomic_or(P, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_xor(P, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_min(P, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_max(P, 1, __NV_ATOMIC_RELAXED);
  // CHECK: fence {{.*}}seq_cst
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void floats(float *P, double *Q, float *R) {
  // CHECK-LABEL: define {{.*}}floats
  float V;
  __nv_atomic_load(P, &V, __NV_ATOMIC_RELAXED);
  __nv_atomic_store(P, &V, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_exchange(P, &V, R, __NV_ATOMIC_RELAXED);
  float Desired = 2;
  *R += __nv_atomic_compare_exchange(P, &V, &Desired, true, __NV_ATOMIC_ACQUIRE,
                                     __NV_ATOMIC_RELAXED);
  // CHECK: atomicrmw fadd {{.*}}double {{.*}}monotonic
  *Q += __nv_atomic_fetch_add(Q, 2.0, __NV_ATOMIC_RELAXED,
                              __NV_THREAD_SCOPE_DEVICE);
}
