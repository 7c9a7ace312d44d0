#include <cstdio>

int sumOfOnes(int N);

int main() {
  int Sum = sumOfOnes(256);
  std::puts(Sum > 0 ? "summed" : "failed");
  return Sum > 0 ? 0 : 1;
}
