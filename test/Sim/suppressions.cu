// Intent: a race that the user's file names is not reported, counted, and leaves the exit
// status alone, also where the first race would end the program; another one is not touched.
// A file that cannot be read is refused in one line.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --offload-arch=sm_90 -DTWO %s -o %t.two
// RUN: echo "race:^count" > %t.txt
// RUN: env CRSAN_OPTIONS=suppressions=%t.txt %crsan run %t 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not="data race:"
// RUN: env CRSAN_OPTIONS=suppressions=%t.txt:halt_on_error=1:poll_ms=1 %crsan run %t 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not="data race:"
// RUN: env CRSAN_OPTIONS=suppressions=%t.txt:halt_on_error=1:poll_ms=1 %crsan run --detector=oracle %t 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not="data race:"
// NONE: end
// NONE: CRSan: {{1 finding is|2 findings are}} not shown, as your suppressions ask
// NONE: SUMMARY: CRSan: no data races found in what was checked ({{[12]}} suppressed)

// RUN: %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t
// RUN: env CRSAN_OPTIONS=suppressions=%t.txt %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t.two 2>&1 | FileCheck %s --check-prefix=ONE --implicit-check-not="data race:"
// RUN: env CRSAN_OPTIONS=suppressions=%t.txt:halt_on_error=1 %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run --detector=oracle %t.two 2>&1 | FileCheck %s --check-prefix=ONE --implicit-check-not="data race:"
// ONE: CRSan: data race: race between blocks
// ONE-NEXT: suppressions.cu:[[#@LINE+33]]:
// ONE: CRSan: {{1 finding is|2 findings are}} not shown, as your suppressions ask
// ONE: SUMMARY: CRSan: 1 data race (1 race between blocks)

// The line that a report proposes leaves that finding out, and no other one. Lines that match
// nothing are named, unless the run was cut short.
// RUN: env CRSAN_OPTIONS=suppressions=%t.txt %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t.two 2>&1 | sed -n 's/^  suppress with: //p' > %t.one
// RUN: wc -l < %t.one | grep '^1$'
// RUN: env CRSAN_OPTIONS=suppressions=%t.one %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t.two 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: CRSan: data race
// OTHER: suppressions.cu:[[#@LINE+19]]:
// OTHER: CRSan: 1 finding is not shown, as your suppressions ask
// OTHER-NOT: matched nothing
// RUN: echo "race:gone.cu" >> %t.one
// RUN: env CRSAN_OPTIONS=suppressions=%t.one %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t.two 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: env CRSAN_OPTIONS=suppressions=%t.one:halt_on_error=1 %python %crsan_src/test/Sim/Inputs/status.py 66 %crsan run %t.two 2>&1 | FileCheck %s --check-prefix=CUT
// GONE: SUMMARY:
// GONE-NEXT: CRSan: suppressions that matched nothing: line 2 (race:gone.cu) of {{.*}}.one
// CUT-NOT: matched nothing

// RUN: env CRSAN_OPTIONS=suppressions=%t.no %python %crsan_src/test/Sim/Inputs/status.py 1 %crsan run %t 2>&1 | FileCheck %s --check-prefix=MISSING --implicit-check-not=end
// MISSING: CRSan: CRSAN_OPTIONS: suppressions: cannot read '{{.*}}.no': No such file or directory
// RUN: echo count > %t.bad
// RUN: env CRSAN_OPTIONS=suppressions=%t.bad %python %crsan_src/test/Sim/Inputs/status.py 1 %crsan run %t 2>&1 | FileCheck %s --check-prefix=BAD --implicit-check-not=end
// BAD: CRSan: CRSAN_OPTIONS: suppressions: '{{.*}}.bad': line 1: 'count' is none of race:PATTERN, race_top:PATTERN and race_pair:PATTERN; see docs/report-format.md

#include <cstdio>
#include <cuda_runtime.h>

__global__ void count(unsigned *Counter) { *Counter += 1; }

#ifdef TWO
__global__ void store(unsigned *Counter) {
  *Counter = threadIdx.x;
}
#endif

int main() {
  unsigned *Counter;
  cudaMalloc(&Counter, 4);
  count<<<8, 1>>>(Counter);
#ifdef TWO
  store<<<8, 1>>>(Counter);
#endif
  cudaError_t Error = cudaDeviceSynchronize();
  puts("end");
  return Error;
}
