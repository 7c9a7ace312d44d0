#include <cstdio>

int lastOf(int Threads);
int sumOfOnes(int N);

int main() {
  bool Done = lastOf(64) >= 0 && sumOfOnes(256) > 0;
  std::puts(Done ? "done" : "failed");
  return Done ? 0 : 1;
}
