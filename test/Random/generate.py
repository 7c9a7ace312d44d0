#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random small CUDA kernels, about half of which have races.

The same seed gives the same file, and a kernel of it does not depend on the
others. Each statement has a line of its own, indices are always in bounds, and
every kernel ends. Nothing is undefined but by a race.
"""
import argparse
import sys

import hosts
import idioms
import meetings
import rights
from kernel import ELEMENTS, SCALARS, Kernel
from statements import Context, Statements

GROUPS = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
"""
PROLOGUE = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

struct Cell {
  unsigned A;
  unsigned short B;
  unsigned char C, D;
};
struct Wide {
  unsigned long long A;
  unsigned B[2];
};
struct Bits {
  unsigned A : 12;
  unsigned B : 20;
};

// Any element as a number, and any number as an element.
__device__ inline unsigned fold(unsigned char V) { return V; }
__device__ inline unsigned fold(short V) { return (unsigned short)V; }
__device__ inline unsigned fold(unsigned short V) { return V; }
__device__ inline unsigned fold(int V) { return (unsigned)V; }
__device__ inline unsigned fold(unsigned V) { return V; }
__device__ inline unsigned fold(unsigned long long V) { return (unsigned)(V ^ V >> 29); }
__device__ inline unsigned fold(float V) { return __float_as_uint(V) >> 8; }
__device__ inline unsigned fold(double V) { return (unsigned)(__double_as_longlong(V) >> 30); }
__device__ inline unsigned fold(uint2 V) { return V.x + 3u * V.y; }
__device__ inline unsigned fold(float4 V) { return fold(V.x) + 3u * fold(V.y) + 5u * fold(V.z) + 7u * fold(V.w); }
__device__ inline unsigned fold(Cell V) { return V.A + V.B + V.C + V.D; }
__device__ inline unsigned fold(Wide V) { return fold(V.A) + V.B[0] + 3u * V.B[1]; }
template <typename T> __device__ inline T cell(unsigned V) { return (T)V; }
template <> __device__ inline float cell(unsigned V) { return (float)(V % 65536u); }
template <> __device__ inline double cell(unsigned V) { return (double)(V % 65536u); }
template <> __device__ inline uint2 cell(unsigned V) { return make_uint2(V, V * 3u); }
template <> __device__ inline float4 cell(unsigned V) {
  float F = cell<float>(V);
  return make_float4(F, F + 1.0f, F + 2.0f, F * 2.0f);
}
template <> __device__ inline Cell cell(unsigned V) {
  return Cell{V, (unsigned short)(V >> 3), (unsigned char)(V >> 5), (unsigned char)V};
}
template <> __device__ inline Wide cell(unsigned V) { return Wide{V * 77ull, {V ^ 5u, V + 1u}}; }
template <> __device__ inline Bits cell(unsigned V) {
  Bits B;
  B.A = V % 4096u;
  B.B = V >> 12;
  return B;
}

// Barriers of the block that count or ask, and for which lanes need not arrive together.
__device__ inline unsigned meetCount(unsigned V) {
  asm volatile("{ .reg .pred P; setp.ne.u32 P, %0, 0; barrier.red.popc.u32 %0, 0, P; }" : "+r"(V)::"memory");
  return V;
}
template <unsigned Threads> __device__ inline unsigned meetCounted(unsigned V) {
  asm volatile("{ .reg .pred P; setp.ne.u32 P, %0, 0; barrier.red.popc.u32 %0, 6, %1, P; }" : "+r"(V) : "n"(Threads) : "memory");
  return V;
}
__device__ inline unsigned meetAny(unsigned V) {
  asm volatile("{ .reg .pred P; setp.ne.u32 P, %0, 0; barrier.red.or.pred P, 0, P; selp.u32 %0, 1, 0, P; }" : "+r"(V)::"memory");
  return V;
}
// Holds for one lane of those in the mask.
__device__ inline bool isElected(unsigned Mask) {
  asm volatile("{ .reg .pred P; elect.sync _|P, %0; selp.u32 %0, 1, 0, P; }" : "+r"(Mask)::"memory");
  return Mask != 0u;
}

// mbarriers of copies that count bytes, and what comes before copies.
__device__ inline void initPhases(unsigned long long *Bar, unsigned Count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(Bar)), "r"(Count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}
__device__ inline void expectBytes(unsigned long long *Bar, unsigned Bytes) {
  asm volatile("{ .reg .b64 T; mbarrier.arrive.expect_tx.shared.b64 T, [%0], %1; }" ::"r"((unsigned)__cvta_generic_to_shared(Bar)), "r"(Bytes) : "memory");
}
__device__ inline void waitPhase(unsigned long long *Bar, unsigned Parity) {
  unsigned Done = 0;
  while (Done == 0u)
    asm volatile("{ .reg .pred P; mbarrier.try_wait.parity.shared.b64 P, [%1], %2; selp.b32 %0, 1, 0, P; }" : "=r"(Done) : "r"((unsigned)__cvta_generic_to_shared(Bar)), "r"(Parity) : "memory");
}
__device__ inline void fenceCopies() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
// Blocks of a cluster.
__device__ inline unsigned clusterRank() {
  unsigned Rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(Rank));
  return Rank;
}
__device__ inline void clusterSync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
template <typename T> __device__ inline T *remote(T *P, unsigned Rank) {
  unsigned long long Address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(Address) : "l"(P), "r"(Rank));
  return (T *)Address;
}

static void check(cudaError_t Error) {
  if (Error == cudaSuccess)
    return;
  std::printf("error: %s\\n", cudaGetErrorString(Error));
  std::exit(1);
}

// Memory of the device, or of device and host; all bytes zero.
template <typename T, bool IsManaged = false> struct Buffer {
  T *Data;
  size_t N;
  explicit Buffer(size_t N) : N(N) {
    if (IsManaged)
      check(cudaMallocManaged((void **)&Data, N * sizeof(T)));
    else
      check(cudaMalloc((void **)&Data, N * sizeof(T)));
    check(cudaMemset(Data, 0, N * sizeof(T)));
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { check(cudaFree(Data)); }
  unsigned long long hash() const {
    std::vector<unsigned char> Host(N * sizeof(T));
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(Host.data(), Data, Host.size(), cudaMemcpyDeviceToHost));
    unsigned long long Hash = 14695981039346656037ull;
    for (unsigned char Byte : Host)
      Hash = (Hash ^ Byte) * 1099511628211ull;
    return Hash;
  }
};

// In clusters of so many blocks.
template <typename... Parameters, typename... Arguments>
void launch(void (*Kernel)(Parameters...), unsigned Cluster, unsigned Blocks, dim3 Threads, size_t Shared, cudaStream_t Stream, Arguments... Args) {
  cudaLaunchAttribute Attribute = {};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim.x = Cluster;
  Attribute.val.clusterDim.y = Attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.dynamicSmemBytes = Shared;
  Config.stream = Stream;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  check(cudaLaunchKernelEx(&Config, Kernel, Parameters(Args)...));
}

// Of a kernel that is repeatable the hash is the same in every run.
static bool finish(unsigned Number, bool IsRepeatable, std::initializer_list<unsigned long long> Hashes) {
  unsigned long long Hash = 0;
  for (unsigned long long H : Hashes)
    Hash = Hash * 31 + H;
  std::printf("kernel %u %s %016llx\\n", Number, IsRepeatable ? "repeatable" : "varying", Hash);
  std::fflush(stdout);
  return true;
}
"""

EPILOGUE = """\
// Arguments: the first kernel to run, and the last.
int main(int Count, char **Arguments) {
  unsigned First = Count > 1 ? std::atoi(Arguments[1]) : 0;
  unsigned Last = Count > 2 ? std::atoi(Arguments[2]) : Count > 1 ? First : ~0u;
  std::vector<unsigned> Values(1024);
  unsigned Value = 12345;
  for (unsigned &V : Values)
    V = Value = Value * 1664525u + 1013904223u;
  for (unsigned &V : Values)
    V >>= 8;
  unsigned *In;
  check(cudaMalloc((void **)&In, Values.size() * sizeof(unsigned)));
  check(cudaMemcpy(In, Values.data(), Values.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
"""

def meet(s):
    """All threads of the block; or, weakly, not quite all."""
    if s.k.weak(3):
        if s.dice.percent(40):
            s.w(s.dice.pick(["__syncwarp();", "__threadfence_block();", "__threadfence();"]))
        return
    s.w(meetings.barrier(s.k))


def phase(s, arrays, grid):
    """New rights to all arrays of the block, some statements, a barrier."""
    pairs = tuple((a, rights.choose(s.k, a)) for a in arrays) + grid
    c = Context(rights=pairs)
    s.some(c, s.dice.between(2, 5))
    meet(s)


def declare(k):
    """The arrays of the phases: of the block, and of the grid with their rights."""
    dice, arrays, grid = k.dice, [], []
    for _ in range(dice.between(0, 3)):
        length = k.threads * dice.pick([1, 1, 2, 4])
        arrays.append(k.array(dice.pick(dice.pick([ELEMENTS, SCALARS])), length,
                              dice.pick(["shared", "shared", "dynamic", "global"])))
    for _ in range(dice.weighted([(4, 0), (3, 1), (1, 2)])):
        a = k.array(dice.pick(dice.pick([ELEMENTS, SCALARS])),
                    k.threads * k.blocks * dice.pick([1, 1, 2]), "grid")
        grid.append((a, rights.choose_for_grid(k, a)))
    return arrays, tuple(grid)


def leave(s):
    """Some threads go home; the others still meet. Sometimes they are whole warps."""
    k, dice = s.k, s.dice
    if k.warps > 1 and dice.percent(40):
        guard = f"Warp == {dice.below(k.warps)}u"
    else:
        guard = dice.pick([f"Tid >= {dice.between(k.threads // 2, k.threads - 1)}u",
                           f"Lane % {dice.between(3, 9)}u == {dice.below(3)}u", s.condition(s.plain)])
        k.lanes_left = True
    s.w.open(f"if ({guard})")
    s.w("Out[Gid] = V0; // keep", "return;")
    s.w.close()
    k.someone_left = True


def kernel_of(seed, number):
    k = Kernel(seed, number)
    # libcu++'s headers are slow to compile: in few files.
    k.may_use_libcudacxx = seed % 4 == 0
    s = Statements(k)
    s.plain = Context(rights=())
    dice = k.dice
    arrays, grid = declare(k)
    meet(s)
    for _ in range(dice.between(1, 4)):
        kinds = [(5, "phase"), (2, "rounds"), (1, "if")]
        # Idioms count on everybody.
        kinds += [] if k.someone_left else [(6, "idiom"), (1, "leave")]
        kind = dice.weighted(kinds)
        if kind == "idiom" or not (arrays or grid or k.someone_left):
            idiom = dice.pick(idioms.STEADY if k.is_steady else idioms.ALL)
            k.writes(idiom.__name__, idiom, s)
            meet(s)
        elif kind == "rounds":
            r = k.local("R")
            meetings.rolled(s)
            s.w.open(f"for (unsigned {r} = 0; {r} < {dice.pick(['2u', '3u', 'In[5] % 2u + 1u'])}; ++{r})")
            for _ in range(dice.between(1, 2)):
                phase(s, arrays, grid)
            s.w.close()
        elif kind == "if":
            s.w.open(f"if ({s.uniform()})")
            phase(s, arrays, grid)
            s.w.close()
        else:
            if kind == "leave":
                leave(s)
            phase(s, arrays, grid)
    k.agent = hosts.agent_of(seed, k, arrays + [a for a, _ in grid])
    return k


def lines_of(seed, numbers):
    """The lines of a file, those of the kernels with their kinds."""
    kernels = [kernel_of(seed, number) for number in numbers]
    lines = [f"// Random kernels {numbers[0]} to {numbers[-1]} of seed {seed}."]
    if any(k.needs_ref for k in kernels):
        lines.append("#include <cuda/atomic>")
    if any(k.needs_groups for k in kernels):
        lines += GROUPS.splitlines()
    lines += PROLOGUE.splitlines() + [""]
    if any(k.agent for k in kernels):
        lines += hosts.STREAMS.splitlines() + [""]
    for k in kernels:
        lines.append(f"// ---- kernel {k.number}, {k.weaknesses} weaknesses ----")
        lines += k.text()
    lines += EPILOGUE.splitlines()
    for k in kernels:
        lines.append(f"  if (First <= {k.number}u && {k.number}u <= Last)")
        lines.append(f"    run{k.number}(In);")
    lines += ['  std::puts("DONE");', "}"]
    return lines


def render(seed, numbers):
    return "\n".join(lines_of(seed, numbers)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=25, help="kernels in the file (25)")
    parser.add_argument("--only", type=int, action="append", metavar="N",
                        help="only this kernel of them; may be repeated")
    parser.add_argument("--out", default="-", help="file to write; -: standard output")
    args = parser.parse_args()
    text = render(args.seed, args.only or list(range(args.count)))
    if args.out == "-":
        sys.stdout.write(text)
    else:
        with open(args.out, "w", encoding="ascii") as file:
            file.write(text)


if __name__ == "__main__":
    main()
