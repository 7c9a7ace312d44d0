// Intent: a program has options of its own, which CRSAN_OPTIONS goes over; asks how many findings
// there are; and is told each text that CRSan prints. Without CRSan the functions do nothing.

// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir -p %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t/racy
// RUN: %python %S/Inputs/status.py 66 %crsan run %t/racy 2>&1 | FileCheck %s --implicit-check-not="{{^}}    >"
// CHECK: before: 0
// CHECK: after: 1
// CHECK: SUMMARY: CRSan: 1 data race
// CHECK: told: CRSan: data race:
// CHECK: told: SUMMARY: CRSan: 1 data race
// RUN: env CRSAN_OPTIONS=source=1 %python %S/Inputs/status.py 66 %crsan run %t/racy 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: {{^}}    >   [[#@LINE+38]] | {{.*}}*Counter += 1

// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DWRONG %s -o %t/wrong
// RUN: %python %S/Inputs/status.py 68 %crsan run %t/wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: CRSan: __crsan_default_options: unknown option 'sede'

// Without CUDA, too: wrong options end the program before it has done anything, and the program's
// own may require that something is checked.
// RUN: %python %S/Inputs/status.py 1 %t/wrong 2>&1 | FileCheck %s --check-prefix=WRONG --implicit-check-not=before
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DREQUIRES %s -o %t/requires
// RUN: env CUDA_VISIBLE_DEVICES= %python %S/Inputs/status.py 67 %t/requires
// RUN: env CUDA_VISIBLE_DEVICES= CRSAN_OPTIONS=require_checked=0 %python %S/Inputs/status.py 0 %t/requires

// RUN: %sim_clangxx -O2 --offload-arch=sm_90 %s -o %t/plain --cuda-path=%cuda_path -I%crsan_build/include -L%cuda_path/lib64 -lcudart
// RUN: %crsan run --detector=none %t/plain 2>&1 | FileCheck %s --check-prefix=PLAIN --implicit-check-not=told
// PLAIN: before: 0
// PLAIN: after: 0

#include <crsan/crsan.h>
#include <cstdio>
#include <cstring>

extern "C" const char *__crsan_default_options() {
#if defined(WRONG)
  return "sede=7";
#elif defined(REQUIRES)
  return "require_checked=1";
#else
  return "source=0";
#endif
}

static void tell(const char *Text) {
  for (const char *Start : {"CRSan: data race:", "SUMMARY:"})
    if (const char *At = strstr(Text, Start))
      fprintf(stderr, "told: %.30s\n", At);
}

__global__ void count(unsigned *Counter) { *Counter += 1; }

int main() {
  crsan_set_report_callback(tell);
  unsigned *Counter;
  cudaMalloc(&Counter, 4);
  fprintf(stderr, "before: %u\n", crsan_race_count());
  for (int I = 0; I < 8; ++I)
    count<<<16, 64>>>(Counter);
  cudaDeviceSynchronize();
  fprintf(stderr, "after: %u\n", crsan_race_count());
}
