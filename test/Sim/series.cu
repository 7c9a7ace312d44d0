// Intent: crsan run runs a program several times, merges what the runs found, says in how
// many of them each finding came, and ends with an exit code that a script can trust.
//
// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o program

// RUN: %python %S/Inputs/status.py 66 %crsan run --seeds 3-6 --detector=oracle ./program racy 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: CRSan: seed {{[3-6]}}: new: race between blocks, 4 bytes in global memory at {{.*}}series.cu:[[@LINE+30]]
// RACY: data race:
// RACY: found in: 4 of 4 runs (seeds 3-6)
// RACY: replay: CRSAN_OPTIONS=seed=3:
// RACY: CRSan: 4 runs, 4 of them with findings
// RACY: CRSan: oracle checked 4 kernel launches
// RACY: SUMMARY: CRSan: {{[0-9]}} data race

// RUN: %python %S/Inputs/status.py 66 %crsan run --runs 3 --detector=oracle --format=json -o saved.json ./program racy
// RUN: %crsan report saved.json | FileCheck %s --check-prefix=SAVED
// SAVED: found in: 3 of 3 runs (seeds 0-2)
// RUN: %python %S/Inputs/status.py 66 %crsan run --detector=oracle --format=sarif ./program racy 2>output | FileCheck %s --check-prefix=SARIF
// RUN: FileCheck %s --check-prefix=OUTPUT < output
// SARIF-NOT: the program speaks
// SARIF: "version": "2.1.0"
// OUTPUT: the program speaks

// RUN: %python %S/Inputs/status.py 66 %crsan run --seeds 100 --jobs 1 --until-dry 2 --detector=oracle ./program racy 2>&1 | FileCheck %s --check-prefix=DRY
// DRY: CRSan: ended after 3 runs, of which the last 2 showed nothing new (--until-dry)

// RUN: %python %S/Inputs/status.py 0 %crsan run --seeds 2 --detector=oracle ./program clean 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: SUMMARY: CRSan: no data races found
// RUN: %python %S/Inputs/status.py 67 %crsan run --seeds 2 --detector=oracle ./program nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: SUMMARY: CRSan: nothing was checked: no kernel was launched
// RUN: %python %S/Inputs/status.py 68 %crsan run --seeds 2 --detector=oracle ./program fails 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: CRSan: seed {{[01]}}: exit code 9; the last lines that it printed:
// FAILS-NEXT: the program speaks
// FAILS: CRSan: 2 runs, 0 of them with findings; 2 failed: seed 0 (exit code 9), seed 1 (exit code 9)
__global__ void count(int *P, bool Racy) {
  if (Racy)
    *P += 1;
  else
    atomicAdd(P, 1);
}

// RUN: %python %S/Inputs/status.py 68 %crsan run --timeout 1 --detector=oracle ./program hangs 2>&1 | FileCheck %s --check-prefix=HANGS
// HANGS: CRSan: the program failed: timed out
// RUN: %python %S/Inputs/status.py 66 %crsan run --timeout 2 --detector=oracle ./program racy hangs 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: SUMMARY: CRSan: {{[0-9]}} data race

// Without a seed on the command line, CRSAN_OPTIONS have it.
// RUN: env CRSAN_OPTIONS=seed=8 %python %S/Inputs/status.py 66 %crsan run --detector=oracle ./program racy 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: replay: CRSAN_OPTIONS=seed=8:
// RUN: env CRSAN_OPTIONS=seed=8 %python %S/Inputs/status.py 66 %crsan run --runs 2 --detector=oracle ./program racy 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: (seeds 8-9)

// Processes of one run are one run.
// RUN: %python %S/Inputs/status.py 66 %crsan run --seeds 2 --detector=oracle sh -c './program racy & ./program clean; wait' 2>&1 | FileCheck %s --check-prefix=PROCESSES
// PROCESSES: found in: 2 of 2 runs (seeds 0-1)
// PROCESSES: CRSan: oracle checked 4 kernel launches

// RUN: not %crsan run --seeds 5-3 ./program 2>&1 | FileCheck %s --check-prefix=SEEDS
// SEEDS: CRSan: '5-3' names no seeds; write a number of seeds, or the first and the last of them: 10 or 0-9
// RUN: ls | count 3

#include <cstdio>
#include <cstring>
#include <unistd.h>

int main(int Count, char **Words) {
  const char *What = Words[1], *Then = Count > 2 ? Words[2] : What;
  printf("the program speaks\n");
  fflush(stdout);
  int *P;
  if (strcmp(What, "nothing") && cudaMalloc(&P, 4) == cudaSuccess) {
    count<<<2, 1>>>(P, !strcmp(What, "racy"));
    cudaDeviceSynchronize();
  }
  if (!strcmp(Then, "hangs"))
    pause();
  return strcmp(What, "fails") ? 0 : 9;
}
