// Intent: cache hints for every type of CUDA's list are plain IR accesses of full
// width, which the pass sees, and pass ptxas; the volatile ones are volatile.

// DEFINE: %{clang} = %clangxx --cuda-path=%cuda_path -Wno-unknown-cuda-version -Wall -Wextra -Werror -include %crsan_src/include/crsan/cuda_compat.h
// RUN: %{clang} --offload-arch=sm_75 -O0 -c %s -o %t.o
// RUN: %{clang} --offload-arch=sm_90 -O2 -c %s -o %t.o
// RUN: %{clang} --offload-arch=sm_90 -O1 -Xclang -disable-llvm-passes --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s --implicit-check-not='asm '

template <class T> __global__ void hints(T *P, const T *Q) {
  P[0] = __ldcg(Q);
  P[1] = __ldca(Q);
  P[2] = __ldcs(Q);
  P[3] = __ldlu(Q);
  P[4] = __ldcv(Q);
  __stwb(P + 5, P[0]);
  __stcg(P + 6, P[1]);
  __stcs(P + 7, P[2]);
  __stwt(P + 8, P[3]);
}
// CHECK: define {{.*}}ldcgPK6float4
// CHECK: load <4 x float>, {{.*}}!nontemporal
// CHECK: define {{.*}}ldcaPK6float4
// CHECK: load <4 x float>, {{.*}}!nontemporal
// CHECK: define {{.*}}ldcsPK6float4
// CHECK: load <4 x float>, {{.*}}!nontemporal
// CHECK: define {{.*}}ldluPK6float4
// CHECK: load <4 x float>, {{.*}}!nontemporal
// CHECK: define {{.*}}ldcvPK6float4
// CHECK: load volatile <4 x float>
// CHECK: define {{.*}}stwbP6float4S_
// CHECK: store <4 x float> {{.*}}!nontemporal
// CHECK: define {{.*}}stcgP6float4S_
// CHECK: store <4 x float> {{.*}}!nontemporal
// CHECK: define {{.*}}stcsP6float4S_
// CHECK: store <4 x float> {{.*}}!nontemporal
// CHECK: define {{.*}}stwtP6float4S_
// CHECK: store volatile <4 x float>

#define USE(T) template __global__ void hints<T>(T *, const T *);
USE(float4)
USE(char) USE(signed char) USE(unsigned char)
USE(short) USE(unsigned short) USE(int) USE(unsigned) USE(long)
USE(unsigned long) USE(long long) USE(unsigned long long)
USE(float) USE(double)
USE(char2) USE(char4) USE(uchar2) USE(uchar4)
USE(short2) USE(short4) USE(ushort2) USE(ushort4)
USE(int2) USE(int4) USE(uint2) USE(uint4)
USE(longlong2) USE(ulonglong2) USE(float2) USE(double2)
