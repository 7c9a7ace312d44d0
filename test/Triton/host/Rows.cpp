// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that reduce rows, a block each.

#include "Device.h"

#include <cuda_bf16.h>

static void softmax(Program &P) {
  constexpr int Rows = 3, Columns = 500;
  Array<float> X(Rows * Columns), Out(Rows * Columns);
  Numbers().fill(X);
  P.launch({dim3(Rows), 32}, Out, X, Columns, Columns);
  for (int R = 0; R < Rows; ++R) {
    double Sum = 0;
    for (int C = 0; C < Columns; ++C)
      Sum += std::exp(double(X[R * Columns + C]));
    for (int At = R * Columns; At < (R + 1) * Columns; ++At)
      expect(Out[At], std::exp(double(X[At])) / Sum, 1e-5, "out", At);
  }
}

struct Moments {
  double Mean, Scale;
};

static Moments momentsOf(const float *Row, int Columns, double Epsilon) {
  double Mean = 0, Variance = 0;
  for (int C = 0; C < Columns; ++C)
    Mean += Row[C] / double(Columns);
  for (int C = 0; C < Columns; ++C)
    Variance += (Row[C] - Mean) * (Row[C] - Mean) / Columns;
  return {Mean, 1 / std::sqrt(Variance + Epsilon)};
}

static void layerNorm(Program &P) {
  constexpr int Rows = 2, Columns = 700;
  Array<float> X(Rows * Columns), Y(Rows * Columns), Weight(Columns),
      Bias(Columns), Mean(Rows), Scale(Rows);
  Numbers Random;
  for (auto *A : {&X, &Weight, &Bias})
    Random.fill(*A);
  P.launch({dim3(Rows), 32}, X, Y, Weight, Bias, Mean, Scale, Columns, Columns,
           1e-5f);
  for (int R = 0; R < Rows; ++R) {
    const Moments M = momentsOf(&X[R * Columns], Columns, 1e-5);
    expect(Mean[R], M.Mean, 1e-5, "mean", R);
    expect(Scale[R], M.Scale, 1e-5, "rstd", R);
    for (int C = 0; C < Columns; ++C)
      expect(Y[R * Columns + C],
             (X[R * Columns + C] - M.Mean) * M.Scale * Weight[C] + Bias[C],
             1e-4, "y", R * Columns + C);
  }
}

static void layerNormBackward(Program &P) {
  constexpr int Rows = 6, Columns = 300, Groups = 2;
  Array<float> DX(Rows * Columns), DY(Rows * Columns), DW(Groups * Columns),
      DB(Groups * Columns), X(Rows * Columns), Weight(Columns), Mean(Rows),
      Scale(Rows);
  Array<int> Locks(2 * Groups);
  Numbers Random;
  for (auto *A : {&DY, &X, &Weight})
    Random.fill(*A);
  for (int R = 0; R < Rows; ++R) {
    const Moments M = momentsOf(&X[R * Columns], Columns, 1e-5);
    Mean[R] = float(M.Mean);
    Scale[R] = float(M.Scale);
  }
  P.launch({dim3(Rows), 64}, DX, DY, DW, DB, X, Weight, Mean, Scale, Locks,
           Columns, Columns, Groups);
  std::vector<double> WantW(Groups * Columns), WantB(Groups * Columns);
  for (int R = 0; R < Rows; ++R) {
    double C1 = 0, C2 = 0;
    auto hat = [&](int C) {
      return (double(X[R * Columns + C]) - Mean[R]) * Scale[R];
    };
    for (int C = 0; C < Columns; ++C) {
      const double G = DY[R * Columns + C];
      C1 += hat(C) * G * Weight[C] / Columns;
      C2 += G * Weight[C] / Columns;
      WantW[R % Groups * Columns + C] += G * hat(C);
      WantB[R % Groups * Columns + C] += G;
    }
    for (int C = 0; C < Columns; ++C) {
      const int At = R * Columns + C;
      expect(DX[At], (DY[At] * Weight[C] - (hat(C) * C1 + C2)) * Scale[R], 1e-4,
             "dx", At);
    }
  }
  for (int At = 0; At < Groups * Columns; ++At) {
    expect(DW[At], WantW[At], 1e-4, "dw", At);
    expect(DB[At], WantB[At], 1e-4, "db", At);
  }
}

static void rmsNorm(Program &P) {
  constexpr int Rows = 2, Columns = 800;
  Array<__nv_bfloat16> X(Rows * Columns), Weight(Columns), Out(Rows * Columns);
  Numbers Random;
  Random.fill(X);
  Random.fill(Weight);
  P.launch({dim3(Rows), 32}, X, Weight, Out, Columns, Columns, 1e-5f);
  for (int R = 0; R < Rows; ++R) {
    double Square = 0;
    auto value = [&](int C) { return double(float(X[R * Columns + C])); };
    for (int C = 0; C < Columns; ++C)
      Square += value(C) * value(C) / Columns;
    for (int C = 0; C < Columns; ++C)
      expect(float(Out[R * Columns + C]),
             value(C) / std::sqrt(Square + 1e-5) * float(Weight[C]), 1e-2,
             "out", R * Columns + C);
  }
}

static void reduction(Program &P) {
  constexpr int N = 1900;
  Array<float> X(N), Sums(2), Tops(2);
  Numbers().fill(X);
  P.launch({dim3(2), 64}, X, Sums, Tops, N);
  for (int B = 0; B < 2; ++B) {
    double Sum = 0, Top = 0;
    for (int I = B * 1024; I < std::min(N, (B + 1) * 1024); ++I) {
      Sum += X[I];
      Top = std::max(Top, double(X[I]));
    }
    expect(Sums[B], Sum, 1e-5, "sums", B);
    expect(Tops[B], Top, 0, "tops", B);
  }
}

static void lastBlock(Program &P) {
  constexpr int Blocks = 5, N = Blocks * 512 - 100;
  Array<float> X(N), Sums(Blocks), Out(1);
  Array<int> Done(1);
  Numbers().fill(X);
  P.launch({dim3(Blocks), 32}, X, Sums, Done, Out, N);
  double Want = 0;
  for (int I = 0; I < N; ++I)
    Want += X[I];
  expect(Out[0], Want, 1e-5, "out", 0);
}

static void quantise(Program &P) {
  constexpr int Rows = 2, Columns = 400;
  Array<float> X(Rows * Columns), Scales(Rows);
  Array<int8_t> Out(Rows * Columns);
  Numbers().fill(X);
  P.launch({dim3(Rows), 32}, X, Out, Scales, Columns, Columns);
  for (int R = 0; R < Rows; ++R) {
    float Top = 0;
    for (int C = 0; C < Columns; ++C)
      Top = std::max(Top, std::abs(X[R * Columns + C]));
    expect(Scales[R], Top / 127, 1e-6, "scales", R);
    for (int At = R * Columns; At < (R + 1) * Columns; ++At)
      expect(Out[At] * Scales[R], X[At], Scales[R] * 0.51, "out", At);
  }
}

const std::vector<Case> RowCases = {{"softmax", softmax},
                                    {"layer_norm", layerNorm},
                                    {"layer_norm_backward", layerNormBackward},
                                    {"rms_norm", rmsNorm},
                                    {"reduction", reduction},
                                    {"last_block", lastBlock},
                                    {"quantise", quantise}};
