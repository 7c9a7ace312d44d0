// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that multiply matrices of halves.

#include "Device.h"

#include <cuda.h>
#include <cuda_fp16.h>

#include <memory>

namespace {

/// c = a * b; c is floats, all are stored row by row.
struct Product {
  Product(int M, int N, int Depth)
      : M(M), N(N), Depth(Depth), A(M * Depth), B(Depth * N), C(M * N) {
    Numbers Random;
    Random.fill(A);
    Random.fill(B);
  }

  void expectRight() const {
    for (int Row = 0; Row < M; ++Row)
      for (int Column = 0; Column < N; ++Column) {
        double Want = 0;
        for (int K = 0; K < Depth; ++K)
          Want += double(float(A[Row * Depth + K])) * float(B[K * N + Column]);
        expect(C[Row * N + Column], Want, 1e-4, "c", Row * N + Column);
      }
  }

  int M, N, Depth;
  Array<__half> A, B;
  Array<float> C;
};

} // namespace

/// Shared memory of pipelined tiles of 64 by 32 and of 32 by 32 halves.
static constexpr unsigned stages(unsigned Count) { return Count * 6144; }

static void matmul(Program &P) {
  Product X(128, 64, 128);
  P.launch({dim3(4), stages(3)}, X.A, X.B, X.C, X.M, X.N, X.Depth);
  X.expectRight();
}

static void persistentMatmul(Program &P) {
  Product X(128, 64, 64);
  P.launch({dim3(3), stages(2)}, X.A, X.B, X.C, X.M, X.N, X.Depth);
  X.expectRight();
}

static void splitKAtomic(Program &P) {
  Product X(64, 64, 128);
  P.launch({dim3(1, 2, 2), stages(2)}, X.A, X.B, X.C, X.N, X.Depth, 64);
  X.expectRight();
}

static void splitKLock(Program &P) {
  Product X(64, 32, 192);
  Array<int> Locks(1);
  P.launch({dim3(1, 1, 3), stages(2) + 16}, X.A, X.B, X.C, Locks, X.N, X.Depth,
           64);
  X.expectRight();
}

static void groupedMatmul(Program &P) {
  std::unique_ptr<Product> Products[] = {std::make_unique<Product>(64, 64, 64),
                                         std::make_unique<Product>(128, 32, 32),
                                         std::make_unique<Product>(64, 32, 96)};
  constexpr int Count = 3;
  Array<int64_t> A(Count), B(Count), C(Count);
  Array<int> Sizes(3 * Count);
  for (int I = 0; I < Count; ++I) {
    Product &X = *Products[I];
    A[I] = reinterpret_cast<int64_t>(X.A.device());
    B[I] = reinterpret_cast<int64_t>(X.B.device());
    C[I] = reinterpret_cast<int64_t>(X.C.device());
    Sizes[3 * I] = X.M;
    Sizes[3 * I + 1] = X.N;
    Sizes[3 * I + 2] = X.Depth;
    X.A.upload();
    X.B.upload();
  }
  P.launch({dim3(2), stages(2)}, A, B, C, Sizes, Count);
  for (auto &X : Products) {
    X->C.download();
    X->expectRight();
  }
}

/// Tiles of a matrix, with rows of at least 64 bytes.
static CUtensorMap tilesOf(void *Matrix, CUtensorMapDataType Type,
                           unsigned ElementBytes, int Rows, int Columns,
                           cuuint32_t TileRows, CUtensorMapSwizzle Swizzle) {
  void *Function;
  cudaDriverEntryPointQueryResult Found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &Function,
                                         12000, cudaEnableDefault, &Found));
  const auto Encode =
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(Function);
  const cuuint64_t Sizes[] = {cuuint64_t(Columns), cuuint64_t(Rows)};
  const cuuint64_t Strides[] = {cuuint64_t(Columns) * ElementBytes};
  const cuuint32_t Box[] = {32, TileRows}, Steps[] = {1, 1};
  CUtensorMap Map;
  if (Encode(&Map, Type, 2, Matrix, Sizes, Strides, Box, Steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, Swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled fails\n");
    std::exit(1);
  }
  return Map;
}

static void matmulTMA(Program &P) {
  Product X(128, 64, 128);
  X.A.upload();
  X.B.upload();
  const auto Half = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  const auto Float = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  P.launch({dim3(2, 2), stages(2) + 8192 + 16},
           tilesOf(X.A.device(), Half, 2, X.M, X.Depth, 64,
                   CU_TENSOR_MAP_SWIZZLE_64B),
           tilesOf(X.B.device(), Half, 2, X.Depth, X.N, 32,
                   CU_TENSOR_MAP_SWIZZLE_64B),
           tilesOf(X.C.device(), Float, 4, X.M, X.N, 64,
                   CU_TENSOR_MAP_SWIZZLE_NONE),
           X.Depth);
  X.C.download();
  X.expectRight();
}

static void warpRoles(Program &P) {
  Product X(128, 64, 160);
  X.A.upload();
  X.B.upload();
  const auto Half = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  P.launch({dim3(2, 2), stages(2) + 32, 160},
           tilesOf(X.A.device(), Half, 2, X.M, X.Depth, 64,
                   CU_TENSOR_MAP_SWIZZLE_64B),
           tilesOf(X.B.device(), Half, 2, X.Depth, X.N, 32,
                   CU_TENSOR_MAP_SWIZZLE_64B),
           X.C, X.N, X.Depth);
  X.expectRight();
}

static void flashAttention(Program &P) {
  constexpr int Heads = 2, Length = 64, Wide = 32;
  constexpr float Scale = 0.25f;
  Array<__half> Q(Heads * Length * Wide), K(Q.size()), V(Q.size()),
      Out(Q.size());
  Numbers Random;
  for (auto *A : {&Q, &K, &V})
    Random.fill(*A);
  P.launch({dim3(Length / 64, Heads), 8192}, Q, K, V, Out, Scale, Length);
  for (int Row = 0; Row < Heads * Length; ++Row) {
    const int Head = Row / Length * Length;
    double Weights[Length], Sum = 0;
    for (int Key = 0; Key < Length; ++Key) {
      double Dot = 0;
      for (int D = 0; D < Wide; ++D)
        Dot += float(Q[Row * Wide + D]) * float(K[(Head + Key) * Wide + D]);
      Sum += Weights[Key] = std::exp(Dot * Scale);
    }
    for (int D = 0; D < Wide; ++D) {
      double Want = 0;
      for (int Key = 0; Key < Length; ++Key)
        Want += Weights[Key] / Sum * float(V[(Head + Key) * Wide + D]);
      expect(float(Out[Row * Wide + D]), Want, 2e-3, "out", Row * Wide + D);
    }
  }
}

static void convolution(Program &P) {
  constexpr int Height = 8, Width = 16, Channels = 32, Filters = 32;
  Array<__half> X(Height * Width * Channels), F(9 * Channels * Filters);
  Array<float> Out(Height * Width * Filters);
  Numbers Random;
  Random.fill(X);
  Random.fill(F);
  P.launch({dim3(Height * Width / 64), stages(1)}, X, F, Out, Height, Width);
  for (int At = 0; At < Height * Width * Filters; ++At) {
    const int Filter = At % Filters, Place = At / Filters;
    double Want = 0;
    for (int Step = 0; Step < 9; ++Step) {
      const int Y = Place / Width + Step / 3 - 1, Z = Place % Width + Step % 3 - 1;
      if (Y < 0 || Y >= Height || Z < 0 || Z >= Width)
        continue;
      for (int C = 0; C < Channels; ++C)
        Want += double(float(X[(Y * Width + Z) * Channels + C])) *
                float(F[(Step * Channels + C) * Filters + Filter]);
    }
    expect(Out[At], Want, 1e-4, "out", At);
  }
}

const std::vector<Case> ProductCases = {
    {"matmul", matmul},
    {"matmul_tma", matmulTMA},
    {"warp_roles", warpRoles},
    {"persistent_matmul", persistentMatmul},
    {"grouped_matmul", groupedMatmul},
    {"split_k_atomic", splitKAtomic},
    {"split_k_lock", splitKLock},
    {"flash_attention", flashAttention},
    {"convolution", convolution}};
