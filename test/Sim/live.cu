// Intent: with print_live=1 a race is printed when it is seen, once, and the report at the end has
// a line for it. The file of the run is rewritten as races come, so that a program that is killed
// leaves them there.

// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir -p %t
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t/racy
// RUN: env CRSAN_OPTIONS=print_live=1 %python %S/Inputs/status.py 66 %crsan run %t/racy exit 2>&1 | FileCheck %s
// RUN: env CRSAN_OPTIONS=print_live=1 %python %S/Inputs/status.py 66 %crsan run --detector=oracle %t/racy exit 2>&1 | FileCheck %s
// CHECK-NOT: went on
// CHECK: CRSan: data race:
// CHECK: live.cu:[[#@LINE+37]]:
// CHECK: went on
// CHECK-NOT: CRSan: data race:
// CHECK: CRSan: shown above: race between blocks, 4 bytes in global memory at {{.*}}live.cu:{{[0-9:]+}}, occurrences: {{[1-9]}}
// CHECK: SUMMARY: CRSan: {{[12]}} data race

// Without it the report comes at the end.
// RUN: %python %S/Inputs/status.py 66 %crsan run %t/racy exit 2>&1 | FileCheck %s --check-prefix=LATE --implicit-check-not="shown above"
// LATE: went on
// LATE: CRSan: data race:

// What the detector has shown is a line in the oracle's report, unless that is wanted in full.
// RUN: %python %S/Inputs/status.py 66 %crsan run --detector=both %t/racy exit 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: CRSan: data race:
// BOTH: SUMMARY: CRSan:
// BOTH-NOT: CRSan: data race:
// BOTH: CRSan: shown above: race between blocks, 4 bytes in global memory at {{.*}}live.cu:{{[0-9:]+}}, occurrences: {{[1-9]}}
// BOTH: SUMMARY: CRSan: {{[12]}} data race
// RUN: env CRSAN_OPTIONS=print_again=1 %python %S/Inputs/status.py 66 %crsan run --detector=both %t/racy exit 2>&1 | FileCheck %s --check-prefix=AGAIN --implicit-check-not="shown above"
// AGAIN: CRSan: data race:
// AGAIN: SUMMARY: CRSan:
// AGAIN: CRSan: data race:
// AGAIN: SUMMARY: CRSan: {{[12]}} data race

// RUN: env CRSAN_OPTIONS=log_path=%t/races-%%p.json %python %S/Inputs/status.py 66 %crsan run %t/racy kill
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=KILLED
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json %python %S/Inputs/status.py 66 %crsan run --detector=oracle %t/racy kill
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=KILLED
// KILLED: CRSan: data race:
// KILLED: CRSan: the report of process {{[0-9]+}} ({{.*}}racy kill) is not complete
// KILLED: SUMMARY: CRSan: {{[12]}} data race

#include <csignal>
#include <cstdio>
#include <string>

__global__ void count(unsigned *Counter) {
  *Counter += 1;
}

int main(int, char **Words) {
  unsigned *Counter;
  cudaMalloc(&Counter, 4);
  count<<<8, 1>>>(Counter);
  cudaDeviceSynchronize();
  if (Words[1] == std::string("kill"))
    raise(SIGKILL);
  fputs("went on\n", stderr);
}
