// Intent: what CUDA's functions mean for other threads is what the programming guide says,
// whatever clang makes of them and however it is optimised.
// REQUIRES: plugin
// DEFINE: %{compile} = %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata --cuda-device-only --cuda-gpu-arch=sm_80 -mllvm -crsan-check-calls -S -emit-llvm %s -o -
// RUN: %{compile} -O1 | %python %S/Inputs/events.py | FileCheck %s
// RUN: %{compile} -O3 | %python %S/Inputs/events.py | FileCheck %s
// RUN: %{compile} -O0 | %python %S/Inputs/events.py | FileCheck %s --check-prefix=O0

// O0-LABEL: function atomics
// O0-LABEL: function _ZL9atomicAddPii
// O0: strong(update 4 generic device relaxed atomic, {{.*}})
// O0: atomicrmw

// CHECK-LABEL: function atomics
// CHECK: enter({{[04]}})
// CHECK: strong(update 4 generic device relaxed atomic, {{.*}})
// CHECK: atomicrmw
// CHECK: strong_done(update 4 generic device relaxed atomic, {{.*}}, 0)
// CHECK: strong(update 4 generic block relaxed atomic, {{.*}})
// CHECK: strong(update 4 generic system relaxed atomic, {{.*}})
// CHECK: strong(update 8 generic device relaxed atomic, {{.*}})
// CHECK: cmpxchg
// CHECK: strong_done(update 8 generic device relaxed atomic, {{.*}}, 1 + {{.*}})
// CHECK: strong(update 4 generic device relaxed atomic, {{.*}})
// CHECK: strong(update 4 generic system acq_rel atomic, {{.*}})
// CHECK: ret
extern "C" __global__ void atomics(int *P, unsigned long long *Q, float *R) {
  atomicAdd(P, 1);
  atomicAdd_block(P, 2);
  atomicAdd_system(P, 3);
  atomicCAS(Q, 1, 2);
  atomicExch(R, 1.0f);
  __atomic_fetch_add(P, 4, __ATOMIC_SEQ_CST);
}

// CHECK-LABEL: function order
// CHECK: access(store 4 {{.*}})
// CHECK: store
// CHECK: call @llvm.nvvm.membar.gl
// CHECK: fence(2)
// CHECK: call @llvm.nvvm.membar.cta
// CHECK: fence(0)
// CHECK: call @llvm.nvvm.membar.sys
// CHECK: fence(3)
// CHECK: strong(store 4 generic system relaxed, {{.*}})
// CHECK: store
// CHECK: block_arrive(null)
// CHECK: call @llvm.nvvm.barrier
// CHECK: block_depart(null)
// CHECK: warp_barrier({{.*}})
// CHECK: call @llvm.nvvm.bar.warp.sync
// CHECK: access(load 4 {{.*}})
// CHECK: load
// CHECK: block_arrive(null)
// CHECK: call @llvm.nvvm.barrier
// CHECK: block_depart(null)
// CHECK: leave({{[0-9]}}, 0)
// CHECK: ret
extern "C" __global__ void order(int *P, volatile int *V) {
  *P = 1;
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  *V = 2;
  __syncthreads();
  __syncwarp();
  int Read = P[1];
  __syncthreads_count(Read);
}
