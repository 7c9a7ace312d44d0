// Intent: checks do not part the lanes of a warp by ptxas's hints to yield; who waits for others
// still gives way.
// REQUIRES: plugin, ptxas
// DEFINE: %{compile} = %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --cuda-device-only -c %s
// RUN: %{compile} --offload-arch=sm_90 -o %t.o && %python %S/Inputs/yields.py %t.o | FileCheck %s
// RUN: %{compile} --offload-arch=sm_75 -o %t.o && %python %S/Inputs/yields.py %t.o | FileCheck %s
// RUN: %{compile} --offload-arch=sm_90 -fgpu-rdc -o %t.o && %python %S/Inputs/yields.py %t.o | FileCheck %s
// What ptxas does by itself:
// RUN: %{compile} --offload-arch=sm_90 --ptxas-path=%ptxas -o %t.o && %python %S/Inputs/yields.py %t.o | FileCheck %s --check-prefix=ALONE

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
