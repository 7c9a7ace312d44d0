// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What -fsanitize-cuda-race-host costs a program that uses no GPU (README.md).
//
// Prints the time of each piece of work, in milliseconds: the best of five.
// With -DOPEN, as if a GPU were at work all the time, on memory of its own.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// Keeps the compiler from leaving out what nobody reads.
template <typename T> void use(const T &Value) {
  asm volatile("" ::"r"(&Value) : "memory");
}

void measure(const char *Name, const std::function<void()> &Work) {
  double Best = 1e9;
  for (int Round = 0; Round < 5; ++Round) {
    const Clock::time_point Start = Clock::now();
    Work();
    const std::chrono::duration<double, std::milli> Taken =
        Clock::now() - Start;
    Best = std::min(Best, Taken.count());
  }
  std::printf("%-12s %8.2f\n", Name, Best);
}

/// A small array, which stays in the first-level cache.
void sum() {
  static std::vector<int> Data(4096, 3);
  for (int Repeat = 0; Repeat < 20000; ++Repeat) {
    int Total = 0;
    for (int Value : Data)
      Total += Value;
    use(Total);
  }
}

void saxpy() {
  static std::vector<float> X(4096, 1.5f), Y(4096, 0.5f);
  for (int Repeat = 0; Repeat < 20000; ++Repeat) {
    for (size_t I = 0; I < X.size(); ++I)
      Y[I] += 0.25f * X[I];
    use(Y[0]);
  }
}

/// Larger than the caches.
void stream() {
  static std::vector<double> A(1 << 22, 1), B(1 << 22, 2), C(1 << 22);
  for (size_t I = 0; I < C.size(); ++I)
    C[I] = A[I] + 3 * B[I];
  use(C[0]);
}

void matmul() {
  constexpr size_t N = 256;
  static std::vector<float> A(N * N, 1), B(N * N, 2), C(N * N);
  for (size_t I = 0; I < N; ++I)
    for (size_t J = 0; J < N; ++J) {
      float Sum = 0;
      for (size_t K = 0; K < N; ++K)
        Sum += A[I * N + K] * B[K * N + J];
      C[I * N + J] = Sum;
    }
  use(C[0]);
}

void stencil() {
  constexpr size_t N = 1024;
  static std::vector<float> From(N * N, 1), To(N * N);
  for (int Repeat = 0; Repeat < 4; ++Repeat) {
    for (size_t Y = 1; Y + 1 < N; ++Y)
      for (size_t X = 1; X + 1 < N; ++X)
        To[Y * N + X] = 0.25f * (From[Y * N + X - 1] + From[Y * N + X + 1] +
                                 From[(Y - 1) * N + X] + From[(Y + 1) * N + X]);
    std::swap(From, To);
  }
  use(From[0]);
}

void sort() {
  std::vector<uint32_t> Data(1 << 19);
  uint32_t State = 1;
  for (uint32_t &Value : Data)
    Value = State = State * 1664525 + 1013904223;
  std::sort(Data.begin(), Data.end());
  use(Data[0]);
}

struct Node {
  int Key;
  std::unique_ptr<Node> Left, Right;
};

void insert(std::unique_ptr<Node> &At, int Key) {
  if (!At)
    At.reset(new Node{Key, nullptr, nullptr});
  else
    insert(Key < At->Key ? At->Left : At->Right, Key);
}

int depth(const Node *At) {
  return At ? 1 + std::max(depth(At->Left.get()), depth(At->Right.get())) : 0;
}

void tree() {
  std::unique_ptr<Node> Root;
  uint32_t State = 1;
  for (int I = 0; I < 100000; ++I)
    insert(Root, int(State = State * 1664525 + 1013904223));
  int Depth = 0;
  for (int Repeat = 0; Repeat < 10; ++Repeat)
    Depth += depth(Root.get());
  use(Depth);
}

void hash() {
  std::unordered_map<uint32_t, uint32_t> Counts;
  uint32_t State = 1;
  for (int I = 0; I < 1000000; ++I)
    ++Counts[(State = State * 1664525 + 1013904223) >> 16];
  use(Counts);
}

void words() {
  static const std::string Text = [] {
    std::string All;
    for (int I = 0; I < 200000; ++I)
      All += "w" + std::to_string(I % 977) + ' ';
    return All;
  }();
  std::unordered_map<std::string, int> Counts;
  std::string Word;
  for (char C : Text)
    if (C == ' ') {
      ++Counts[Word];
      Word.clear();
    } else {
      Word += C;
    }
  use(Counts);
}

/// Breadth-first search of a grid with random edges.
void graph() {
  constexpr uint32_t N = 1 << 18, Degree = 4;
  static std::vector<uint32_t> Edges = [] {
    std::vector<uint32_t> All(N * Degree);
    uint32_t State = 1;
    for (uint32_t &Edge : All)
      Edge = (State = State * 1664525 + 1013904223) % N;
    return All;
  }();
  std::vector<uint32_t> Level(N, ~0u), Queue(N);
  size_t End = 1;
  Queue[0] = Level[0] = 0;
  for (size_t Begin = 0; Begin < End; ++Begin)
    for (uint32_t I = 0; I < Degree; ++I) {
      const uint32_t To = Edges[Queue[Begin] * Degree + I];
      if (Level[To] == ~0u) {
        Level[To] = Level[Queue[Begin]] + 1;
        Queue[End++] = To;
      }
    }
  use(Level);
}

} // namespace

int main() {
  measure("sum", sum);
  measure("saxpy", saxpy);
  measure("stream", stream);
  measure("matmul", matmul);
  measure("stencil", stencil);
  measure("sort", sort);
  measure("tree", tree);
  measure("hash", hash);
  measure("words", words);
  measure("graph", graph);
}
