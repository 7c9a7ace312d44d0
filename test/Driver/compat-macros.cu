// Intent: a user's macros, which are there before the header that is included ahead
// of everything, do not meet its names.

// DEFINE: %{clang} = %clangxx --cuda-path=%cuda_path -Wno-unknown-cuda-version -Wall -Wextra -Werror --offload-arch=sm_75 -fsyntax-only
// DEFINE: %{macros} = -DB1=1 -DB2=1 -DB4=1 -DH2 -DH4 -DW1 -DW2 -DF2=2 -DF4=4 -DD2 -DQ2 -DL1 -DValue=5 -DPointer=6 -DVector=7 -DCRSAN=8
// RUN: %{clang} %{macros} %s
// RUN: %{clang} %{macros} -include %crsan_src/include/crsan/cuda_compat.h %s

__global__ void kernel(float4 *P) { P[0] = P[F4 + B1]; }
