// Intent: checks do not part the lanes of a warp by ptxas' hints to yield, which stay where a lane
// waits for others; and where the lanes of a parted warp gather, what they gather in is no register
// that checks use.
// REQUIRES: plugin, ptxas
// DEFINE: %{compile} = %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --cuda-device-only -c %s
// RUN: %{compile} --offload-arch=sm_90 -o %t.o && %python %S/Inputs/warps.py %t.o | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: %{compile} --offload-arch=sm_75 -o %t.o && %python %S/Inputs/warps.py %t.o | FileCheck %s
// RUN: %{compile} --offload-arch=sm_90 -fgpu-rdc -o %t.o && %python %S/Inputs/warps.py %t.o | FileCheck %s --check-prefixes=CHECK,SM90
// What ptxas does by itself:
// RUN: %{compile} --offload-arch=sm_90 --ptxas-path=%ptxas -o %t.o && %python %S/Inputs/warps.py %t.o | FileCheck %s --check-prefix=ALONE

// CHECK-DAG: {{^}}__crsan_md_check does not yield
// CHECK-DAG: {{^}}__crsan_md_fence does not yield
// CHECK-DAG: {{^}}__crsan_md_enter does not yield
// CHECK-DAG: {{^}}__crsan__Z{{.*}}acquireAndFence{{.*}} does not yield
// CHECK-DAG: {{^}}_Z5writePii does not yield
// ALONE-DAG: {{^}}_Z5writePii yields
__global__ void write(int *P, int N) {
  for (int I = threadIdx.x; I < N; I += 32)
    P[I * I] = I;
}

// CHECK-DAG: {{^}}_Z4waitPVii yields
__global__ void wait(volatile int *P, int N) {
  while (P[0] != N)
    ;
  __threadfence();
  P[1] = N;
}

// SM90-DAG: {{^}}_Z5meet_Pi gathers in B15
// ALONE-DAG: {{^}}_Z5meet_Pi gathers in B{{[0-9]$}}
__global__ void meet_(int *P) {
  for (int I = threadIdx.x; I < P[0]; I += 32) {
    P[I + 1] = I;
    asm volatile("barrier.sync 0;" ::: "memory");
  }
}
