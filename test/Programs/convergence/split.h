// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warps that a check has split meet again.
//
// A program of this suite is about one kind of instruction at which lanes meet.
// In each round every thread publishes values by plain stores, which are what is
// checked; then its threads meet, and look at what others have published. The
// stores stand right before the meeting, and in each of the forms in which a
// check can take the lanes of a warp apart.
//
// A test is a struct that inherits from Meeting and has of this what is not there:
//
//   static constexpr bool CanReturn;    some lanes may be gone for good
//   static constexpr unsigned Resident, ClusterSize;
//   __device__ void begin();            before the first round, all threads
//   __device__ void leave();            what a lane does that goes for good
//   template <typename B> __device__ bool meets(B &Board, unsigned Round);
//                                       meets, and says whether all is right
#ifndef CRSAN_TEST_PROGRAMS_SPLIT_H
#define CRSAN_TEST_PROGRAMS_SPLIT_H

#include "../check.h"

/// Where the checked store stands.
enum class Split {
  Line,     ///< In straight-line code.
  Loop,     ///< In a loop whose number of iterations depends on the lane.
  If,       ///< In a branch that one lane in three takes.
  Branches, ///< In both branches of an `if`.
  Switch,   ///< In some cases of a `switch`.
  Call,     ///< In a function that half of the lanes call.
  Return,   ///< Before one lane in four returns from the kernel.
};

constexpr unsigned Threads = 128, Copies = 4;
CONSTANT Scaled<132, 2> Blocks;
CONSTANT Scaled<100, 3> Rounds;
/// Words of the boards of one block in global memory.
constexpr unsigned Words = 2 * Copies * Threads;

__host__ __device__ constexpr unsigned valueOf(unsigned T, unsigned Round,
                                               unsigned Copy) {
  return T * 7 + Round * 1031 + Copy * 17 + 1;
}

__device__ __attribute__((noinline)) void storeApart(unsigned *To,
                                                     unsigned Value) {
  *To = Value;
}

inline __device__ unsigned laneOf() { return threadIdx.x % 32; }

/// What the threads of a block publish. There are two sets of cells, used in
/// turns: a cell is written again when two meetings lie between.
template <Split S> struct Board {
  unsigned *Near; ///< In shared memory.
  unsigned *Far;  ///< In global memory.

  /// How many values thread \p T publishes in a round.
  static __host__ __device__ constexpr unsigned copiesOf(unsigned T) {
    switch (S) {
    case Split::Loop:
      return 1 + T * 5 % Copies;
    case Split::If:
      return T % 3 == 0;
    case Split::Switch:
      return T % 4 != 3;
    case Split::Call:
      return T % 2;
    default:
      return 1;
    }
  }
  static __host__ __device__ constexpr bool isFar(unsigned T) {
    return (S == Split::Branches && T % 2) ||
           (S == Split::Switch && T % 4 == 1);
  }
  static __host__ __device__ bool isGone(unsigned T, unsigned Round) {
    return S == Split::Return && T % 4 == 3 && Round >= Rounds / 2;
  }
  static __device__ unsigned cell(unsigned T, unsigned Round, unsigned Copy) {
    return (Round % 2 * Copies + Copy) * Threads + T;
  }

  __device__ void publish(unsigned Round) {
    const unsigned T = threadIdx.x;
    const unsigned Cell = cell(T, Round, 0), Value = valueOf(T, Round, 0);
    if constexpr (S == Split::Line || S == Split::Return)
      Near[Cell] = Value;
    if constexpr (S == Split::Loop) {
#pragma unroll 1
      for (unsigned I = 0; I < copiesOf(T); ++I)
        Near[cell(T, Round, I)] = valueOf(T, Round, I);
    }
    if constexpr (S == Split::If) {
      if (T % 3 == 0)
        Near[Cell] = Value;
    }
    if constexpr (S == Split::Branches) {
      if (T % 2)
        Far[Cell] = Value;
      else
        Near[Cell] = Value;
    }
    if constexpr (S == Split::Switch) {
      switch (T % 4) {
      case 0:
        Near[Cell] = Value;
        break;
      case 1:
        Far[Cell] = Value;
        break;
      case 2:
        storeApart(Near + Cell, Value);
        break;
      }
    }
    if constexpr (S == Split::Call) {
      if (T % 2)
        storeApart(Near + Cell, Value);
    }
  }

  /// Whether what thread \p T has published in this round is there.
  __device__ bool shows(unsigned T, unsigned Round) const {
    return shows(T, Round, Near, Far);
  }
  static __device__ bool shows(unsigned T, unsigned Round, const unsigned *Near,
                               const unsigned *Far) {
    bool Right = true;
    // Nothing orders what a lane reads last before what others write when it is gone.
    if (isGone(threadIdx.x, Round + 1))
      return true;
#pragma unroll 1
    for (unsigned I = 0; I < copiesOf(T); ++I)
      Right &=
          (isFar(T) ? Far : Near)[cell(T, Round, I)] == valueOf(T, Round, I);
    return Right;
  }

  /// A thread of this one's group, another one in each round.
  static __device__ unsigned partner(unsigned Group, unsigned Round) {
    const unsigned T = threadIdx.x, Base = T / Group * Group;
    const unsigned To = Base + (T - Base + 1 + Round * 5) % Group;
    return isGone(To, Round) ? To - 1 : To;
  }
  /// The lanes of a warp that are still there.
  static __device__ unsigned lanes(unsigned Round) {
    return isGone(3, Round) ? 0x77777777 : 0xffffffff;
  }
};

/// Counts the rounds in which all was right.
template <typename Test, Split S>
__device__ void countRight(unsigned *Out, unsigned *Far) {
  __shared__ unsigned Near[Words];
  Board<S> B{Near, Far + blockIdx.x * Words};
  unsigned Right = 0;
  Test Meeting;
  Meeting.begin();
#pragma unroll 1
  for (unsigned R = 0; R < Rounds; ++R) {
    B.publish(R);
    if (B.isGone(threadIdx.x, R)) {
      Out[blockIdx.x * Threads + threadIdx.x] = Right;
      Meeting.leave();
      return;
    }
    Right += Meeting.meets(B, R);
  }
  Out[blockIdx.x * Threads + threadIdx.x] = Right;
}

template <typename Test, Split S>
__global__ void rounds(unsigned *Out, unsigned *Far) {
  countRight<Test, S>(Out, Far);
}
template <typename Test, Split S>
__global__ void __launch_bounds__(Threads, Test::Resident)
    boundedRounds(unsigned *Out, unsigned *Far) {
  countRight<Test, S>(Out, Far);
}

/// What a test need not say.
struct Meeting {
  static constexpr bool CanReturn = true;
  /// So many blocks are to run on a multiprocessor; 0: none are promised.
  static constexpr unsigned Resident = 0;
  static constexpr unsigned ClusterSize = 1;
  __device__ void begin() {}
  __device__ void leave() {}
};

template <typename Test, Split S> bool runSplit(const char *Name) {
  if (S == Split::Return && !Test::CanReturn)
    return true;
  unsigned *Out = zeroed<unsigned>(Blocks * Threads);
  unsigned *Far = zeroed<unsigned>(Blocks * Words);
  cudaLaunchAttribute Cluster = {};
  Cluster.id = cudaLaunchAttributeClusterDimension;
  Cluster.val.clusterDim = {Test::ClusterSize, 1, 1};
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Blocks;
  Config.blockDim = Threads;
  Config.attrs = &Cluster;
  Config.numAttrs = Test::ClusterSize > 1;
  if constexpr (Test::Resident > 0)
    CHECK(cudaLaunchKernelEx(&Config, boundedRounds<Test, S>, Out, Far));
  else
    CHECK(cudaLaunchKernelEx(&Config, rounds<Test, S>, Out, Far));
  const bool Right = matches(Out, Blocks * Threads, [](size_t I) {
    return Board<S>::isGone(I % Threads, Rounds) ? Rounds / 2 : Rounds;
  });
  if (!Right)
    std::printf("%s, split %d: wrong\n", Name, int(S));
  CHECK(cudaFree(Out));
  CHECK(cudaFree(Far));
  return Right;
}

/// All forms of one test; false if a value was wrong in one of them.
template <typename Test> bool runSplits(const char *Name) {
  bool Right = runSplit<Test, Split::Line>(Name);
  Right &= runSplit<Test, Split::Loop>(Name);
  Right &= runSplit<Test, Split::If>(Name);
  Right &= runSplit<Test, Split::Branches>(Name);
  Right &= runSplit<Test, Split::Switch>(Name);
  Right &= runSplit<Test, Split::Call>(Name);
  return runSplit<Test, Split::Return>(Name) && Right;
}

#define RUN_SPLITS(Test) runSplits<Test>(#Test)

#endif // CRSAN_TEST_PROGRAMS_SPLIT_H
