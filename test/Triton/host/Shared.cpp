// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads exchange numbers through shared memory.

#include "Device.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <functional>

static void histogram(Program &P) {
  constexpr int N = 1500, Kinds = 128;
  Array<int> X(N), Counts(Kinds);
  Numbers Random;
  std::vector<int> Want(Kinds);
  for (int I = 0; I < N; ++I)
    ++Want[X[I] = int(Random.next() % Kinds)];
  P.launch({dim3(3), Kinds * 4}, X, Counts, N);
  for (int K = 0; K < Kinds; ++K)
    expect(Counts[K], Want[K], 0, "counts", K);
}

static void scan(Program &P) {
  constexpr int Rows = 2, Columns = 512;
  Array<int> X(Rows * Columns), Out(Rows * Columns);
  Numbers Random;
  for (size_t I = 0; I < X.size(); ++I)
    X[I] = int(Random.next() % 100);
  P.launch({dim3(Rows), 16}, X, Out);
  for (int R = 0; R < Rows; ++R)
    for (int C = 0, Sum = 0; C < Columns; ++C) {
      Sum += X[R * Columns + C];
      expect(Out[R * Columns + C], Sum, 0, "out", R * Columns + C);
    }
}

static void transpose(Program &P) {
  constexpr int M = 64, N = 96;
  Array<float> X(M * N), Out(M * N);
  Numbers().fill(X);
  P.launch({dim3(M / 32, N / 32), 32 * 33 * 4}, X, Out, M, N);
  for (int R = 0; R < M; ++R)
    for (int C = 0; C < N; ++C)
      expect(Out[C * M + R], X[R * N + C], 0, "out", C * M + R);
}

static void gather(Program &P) {
  constexpr int Rows = 2, Columns = 401;
  Array<__half> X(Rows * Columns), Out(Rows * Columns);
  Array<int64_t> Index(Rows * Columns);
  Numbers Random;
  Random.fill(X);
  for (size_t I = 0; I < Index.size(); ++I)
    Index[I] = Random.next() % Columns;
  P.launch({dim3(Rows), 1024}, X, Index, Out, Columns);
  for (int At = 0; At < Rows * Columns; ++At)
    expect(float(Out[At]), float(X[At / Columns * Columns + Index[At]]), 0,
           "out", At);
}

static void topK(Program &P) {
  constexpr int Rows = 2, Columns = 128, Most = 16;
  Array<int> X(Rows * Columns), Out(Rows * Most);
  Numbers Random;
  for (size_t I = 0; I < X.size(); ++I)
    X[I] = int(Random.next() % 10000);
  P.launch({dim3(Rows), Columns * 4}, X, Out);
  for (int R = 0; R < Rows; ++R) {
    std::vector<int> Row(&X[R * Columns], &X[R * Columns] + Columns);
    std::sort(Row.begin(), Row.end(), std::greater<>());
    for (int I = 0; I < Most; ++I)
      expect(Out[R * Most + I], Row[I], 0, "out", R * Most + I);
  }
}

const std::vector<Case> SharedCases = {{"histogram", histogram},
                                       {"scan", scan},
                                       {"transpose", transpose},
                                       {"gather", gather},
                                       {"top_k", topK}};
