// Intent: ldmatrix and mma.sync written as inline PTX work under instrumentation, as in
// programs that schedule their tensor cores by hand.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t 2>&1 | FileCheck %s
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim --detector=oracle %t 2>&1 | FileCheck %s
// CHECK: 0 wrong
// CHECK: no data races found

#include <cstdio>

// D (16x8) = A (16x16, by rows) * B (16x8, by columns).
__global__ void multiply(const _Float16 *A, const _Float16 *B, float *D) {
  __shared__ __attribute__((aligned(16))) _Float16 TileA[16 * 16], TileB[8 * 16];
  unsigned Lane = threadIdx.x;
  for (int I = 0; I < 8; ++I)
    TileA[I * 32 + Lane] = A[I * 32 + Lane];
  for (int I = 0; I < 4; ++I)
    TileB[I * 32 + Lane] = B[I * 32 + Lane];
  __syncwarp();
  unsigned FA[4], FB[2];
  unsigned RowOfA = (unsigned)__cvta_generic_to_shared(&TileA[Lane % 16 * 16 + Lane / 16 * 8]);
  unsigned RowOfB = (unsigned)__cvta_generic_to_shared(&TileB[Lane % 8 * 16 + Lane / 8 % 2 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(FA[0]), "=r"(FA[1]), "=r"(FA[2]), "=r"(FA[3])
               : "r"(RowOfA)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(FB[0]), "=r"(FB[1])
               : "r"(RowOfB)
               : "memory");
  float FD[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(FD[0]), "+f"(FD[1]), "+f"(FD[2]), "+f"(FD[3])
               : "r"(FA[0]), "r"(FA[1]), "r"(FA[2]), "r"(FA[3]), "r"(FB[0]), "r"(FB[1]));
  for (int I = 0; I < 4; ++I)
    D[(Lane / 4 + I / 2 * 8) * 8 + Lane % 4 * 2 + I % 2] = FD[I];
}

int main() {
  _Float16 *A, *B;
  float *D;
  cudaMallocManaged(&A, 16 * 16 * 2);
  cudaMallocManaged(&B, 16 * 8 * 2);
  cudaMallocManaged(&D, 16 * 8 * 4);
  for (int I = 0; I < 256; ++I)
    A[I] = (_Float16)(float)(I % 7 - 3);
  for (int I = 0; I < 128; ++I)
    B[I] = (_Float16)(float)(I % 5);
  multiply<<<1, 32>>>(A, B, D);
  cudaDeviceSynchronize();
  int Wrong = 0;
  for (int R = 0; R < 16; ++R)
    for (int C = 0; C < 8; ++C) {
      int Sum = 0;
      for (int X = 0; X < 16; ++X)
        Sum += ((R * 16 + X) % 7 - 3) * ((C * 16 + X) % 5);
      Wrong += D[R * 8 + C] != Sum;
    }
  std::printf("%d wrong\n", Wrong);
}
