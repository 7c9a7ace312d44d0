// Intent: the first threads of a kernel that execute its checks write down where it has its shared variables, so that
// reports have their elements.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s

__shared__ int Both[64];
extern __shared__ int Dynamic[];

// CHECK: @__crsan_shared_uses_[[UNIT:[0-9a-f]+]] = {{.*}}global [3 x i32] zeroinitializer

// CHECK-LABEL: define {{.*}}@_Z5firstPi
// CHECK: [[KNOWN:%.+]] = load i32, {{.*}}@__crsan_shared_uses_[[UNIT]]
// CHECK-NEXT: [[IS_NEW:%.+]] = icmp eq i32 [[KNOWN]], 0
// CHECK-NEXT: br i1 [[IS_NEW]],
// CHECK: store i32 add (i32 ptrtoint (ptr addrspace(3) @{{(Both|_ZZ5firstPiE3Own)}} to i32), i32 1), {{.*}}@__crsan_shared_uses_[[UNIT]]
// CHECK: store i32 add (i32 ptrtoint (ptr addrspace(3) @{{(Both|_ZZ5firstPiE3Own)}} to i32), i32 1), {{.*}}@__crsan_shared_uses_[[UNIT]]
// CHECK-LABEL: define {{.*}}@_Z6secondPi
__global__ void first(int *P) {
  __shared__ int Own[32];
  Own[P[threadIdx.x] % 32] = P[0];
  Both[P[threadIdx.x] % 64] = P[0];
  P[threadIdx.x] = Own[P[1] % 32] + Both[P[2] % 64];
}

// CHECK: store i32 add (i32 ptrtoint (ptr addrspace(3) @Dynamic to i32), i32 1), {{.*}}@__crsan_shared_uses_[[UNIT]]
__global__ void second(int *P) {
  Dynamic[P[threadIdx.x]] = P[0];
  P[threadIdx.x] = Dynamic[P[1]];
}
