// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fragments: parting and meeting.
#include "Device.h"

#include <algorithm>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Frame *Device::newFrame(Function &Fn, Frame *Caller, uint32_t LocalBase) {
  std::vector<Frame *> &Free = FreeFrames[&Fn];
  Frame *New;
  if (Free.empty()) {
    New = new Frame;
    New->Fn = &Fn;
    New->Rows.resize(Fn.FrameBytes);
  } else {
    New = Free.back();
    Free.pop_back();
  }
  New->Caller = Caller;
  New->Site = nullptr;
  New->ReturnTo = 0;
  New->Uses = 1;
  New->LocalBase = LocalBase;
  New->LocalTop = LocalBase + Fn.LocalBytes;
  uint64_t Base = window::Local + LocalBase;
  uint64_t *Row = reinterpret_cast<uint64_t *>(New->Rows.data() + LocalBaseRow);
  std::fill(Row, Row + WarpSize, Base);
  return New;
}

void Device::drop(Frame *Fr) {
  while (Fr && --Fr->Uses == 0) {
    Frame *Caller = Fr->Caller;
    FreeFrames[Fr->Fn].push_back(Fr);
    Fr = Caller;
  }
}

bool Device::growLocal(Warp &W, uint32_t Bytes) {
  constexpr uint32_t Limit = 512 * 1024; // What CUDA allows a thread.
  if (Bytes <= W.LocalStride)
    return true;
  if (Bytes > Limit)
    return false;
  uint32_t Stride = std::min(std::max({Bytes, W.LocalStride * 2, 256u}), Limit);
  std::vector<uint8_t> Bigger(size_t(Stride) * WarpSize);
  for (unsigned L = 0; L < WarpSize && W.LocalStride; ++L)
    std::memcpy(&Bigger[size_t(L) * Stride],
                &W.Local[size_t(L) * W.LocalStride], W.LocalStride);
  W.Local = std::move(Bigger);
  W.LocalStride = Stride;
  return true;
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Fragment *Device::newFragment(Warp &W, uint32_t Lanes, uint32_t Pc, Frame *Top,
                              Meeting *Meets) {
  Fragment *F;
  if (FreeFragments.empty()) {
    F = new Fragment;
  } else {
    F = FreeFragments.back();
    FreeFragments.pop_back();
    *F = Fragment();
  }
  F->Id = NextFragment++;
  F->In = &W;
  F->Lanes = Lanes;
  F->Pc = Pc;
  F->Top = Top;
  F->Meets = Meets;
  F->Is = Fragment::State::Ready;
  // PCT: above those that were lowered. Round robin: just served.
  F->Priority = Opt.Schedule == Options::Policy::PCT
                    ? Dice.next() | uint64_t(1) << 63
                    : Steps;
  F->ReadyIndex = uint32_t(Ready.size());
  Ready.push_back(F);
  ++W.Running;
  W.Fragments.push_back(F);
  return F;
}

static bool runs(Fragment::State S) {
  return S == Fragment::State::Ready || S == Fragment::State::Sleeping ||
         S == Fragment::State::Turn;
}

void Device::setState(Fragment &F, Fragment::State New) {
  if (F.Is == New)
    return;
  if (F.Is == Fragment::State::Ready) {
    Fragment *Last = Ready.back();
    Ready[F.ReadyIndex] = Last;
    Last->ReadyIndex = F.ReadyIndex;
    Ready.pop_back();
  }
  F.In->Running += int(runs(New)) - int(runs(F.Is));
  F.Is = New;
  if (New == Fragment::State::Ready) {
    F.ReadyIndex = uint32_t(Ready.size());
    Ready.push_back(&F);
  }
}

/// Its lanes are gone or in another fragment.
void Device::retire(Fragment *F) {
  setState(*F, Fragment::State::Gone);
  drop(F->Top);
  drop(F->Meets);
  auto &All = F->In->Fragments;
  All.erase(std::find(All.begin(), All.end(), F));
  FreeFragments.push_back(F);
}

Fragment *Device::split(Fragment &F, uint32_t Lanes, uint32_t Pc) {
  F.Lanes &= ~Lanes;
  ++F.Top->Uses;
  if (F.Meets)
    ++F.Meets->Uses;
  return newFragment(*F.In, Lanes, Pc, F.Top, F.Meets);
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

void Device::drop(Meeting *M) {
  while (M && --M->Uses == 0) {
    Meeting *Parent = M->Parent;
    FreeMeetings.push_back(M);
    M = Parent;
  }
}

/// The meeting of lanes of F that are about to part. F uses it afterwards.
Meeting *Device::meetingFor(Fragment &F, uint32_t Reconverge) {
  uint32_t Pc = Reconverge;
  const Frame *In = F.Top;
  if (Reconverge == Instruction::Nowhere)
    return F.Meets;
  if (Reconverge == Instruction::AtReturn) {
    if (!F.Top->Caller)
      return F.Meets;
    Pc = F.Top->ReturnTo;
    In = F.Top->Caller;
  }
  // A loop that lanes leave one by one.
  if (F.Meets && F.Meets->Pc == Pc && F.Meets->In == In)
    return F.Meets;
  Meeting *M;
  if (FreeMeetings.empty()) {
    M = new Meeting;
  } else {
    M = FreeMeetings.back();
    FreeMeetings.pop_back();
  }
  *M = {F.Meets, 1, Pc, In, F.Lanes}; // F's use of the parent is now M's.
  return F.Meets = M;
}

Outcome Device::diverge(Execution &X, uint32_t Lanes, uint32_t Target,
                        uint32_t Else, uint32_t Reconverge) {
  Fragment &F = *X.F;
  meetingFor(F, Reconverge);
  F.Pc = Else;
  Fragment *N = split(F, Lanes, Target);
  // What has been lowered stays low, or lanes that part again and again would
  // never let others run.
  if (Opt.Schedule != Options::Policy::PCT || F.Priority >> 63 == 0)
    N->Priority = F.Priority;
  N->RanSince = F.RanSince;
  return Outcome::Yield;
}

/// Lanes are no longer expected at meetings from From up to (not with) UpTo;
/// those who wait there for nobody else go on.
void Device::leaveMeetings(Meeting *From, const Meeting *UpTo, uint32_t Lanes) {
  for (Meeting *M = From; M != UpTo; M = M->Parent)
    M->Expected &= ~Lanes;
}

/// Whether the code is of metadata mode's runtime. Its lanes part in
/// data-dependent branches of every check. If they also went on alone by
/// chance, as those of the program do, they would meet only behind the
/// program's loop, and the loop would run lane by lane.
static bool isOfChecks(const Function &Fn) {
  const std::string_view Name = Fn.Name;
  return Name.starts_with("__crsan_md_") ||
         Name.starts_with("__crsan__ZN5crsan6device");
}

bool Device::meet(Fragment &F) {
  Meeting *M = F.Meets;
  // Whoever waits there joins.
  for (size_t N = 0; N < F.In->Fragments.size();) {
    Fragment *Other = F.In->Fragments[N];
    if (Other != &F && Other->Is == Fragment::State::Meeting &&
        Other->Meets == M) {
      F.Lanes |= Other->Lanes;
      F.Priority = std::min(F.Priority, Other->Priority);
      Other->Lanes = 0;
      retire(Other);
      continue;
    }
    ++N;
  }
  const bool IsComplete = (M->Expected & ~F.Lanes) == 0;
  const bool IsRegular = Opt.Schedule == Options::Policy::RoundRobin;
  const bool IsPatient = isOfChecks(*F.Top->Fn);
  if (!IsComplete && (IsRegular || IsPatient || !Dice.oneIn(16))) {
    const auto Apart = uint32_t(F.In->Fragments.size());
    F.ReleaseAt = F.In->Steps + (IsRegular   ? 2048
                                 : IsPatient ? Apart * (512 + Dice.below(4096))
                                             : 64 + Dice.below(2048));
    setState(F, Fragment::State::Meeting);
    return false;
  }
  goOnAlone(F);
  return true;
}

void Device::goOnAlone(Fragment &F) {
  Meeting *M = F.Meets;
  M->Expected &= ~F.Lanes;
  if (M->Parent)
    ++M->Parent->Uses;
  F.Meets = M->Parent;
  drop(M);
  setState(F, Fragment::State::Ready);
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

bool Device::onSamePath(const Fragment &A, const Fragment &B) {
  if (A.Pc != B.Pc)
    return false;
  const Frame *X = A.Top, *Y = B.Top;
  for (; X != Y; X = X->Caller, Y = Y->Caller) {
    if (!X || !Y || X->Fn != Y->Fn || X->ReturnTo != Y->ReturnTo ||
        X->LocalBase != Y->LocalBase)
      return false;
    if (!X->Caller != !Y->Caller)
      return false;
  }
  return true;
}

/// Copies the lanes' values of all registers.
static void copyLanes(Frame &To, const Frame &From, uint32_t Lanes) {
  for (const Ref &R : To.Fn->Registers) {
    uint8_t *T = To.Rows.data() + R.Offset;
    const uint8_t *S = From.Rows.data() + R.Offset;
    if (!R.Size) {
      uint32_t A, B;
      std::memcpy(&A, T, 4);
      std::memcpy(&B, S, 4);
      A = (A & ~Lanes) | (B & Lanes);
      std::memcpy(T, &A, 4);
      continue;
    }
    forLanes(Lanes, [&](unsigned L) {
      std::memcpy(T + L * R.Size, S + L * R.Size, R.Size);
    });
  }
}

void Device::merge(Fragment &A, Fragment &B) {
  Frame *X = A.Top, *Y = B.Top;
  for (; X != Y; X = X->Caller, Y = Y->Caller) {
    copyLanes(*X, *Y, B.Lanes);
    X->LocalTop = std::max(X->LocalTop, Y->LocalTop);
  }
  // What both expect to meet at stays; the rest they have left.
  auto Depth = [](const Meeting *M) {
    unsigned N = 0;
    for (; M; M = M->Parent)
      ++N;
    return N;
  };
  Meeting *P = A.Meets, *Q = B.Meets;
  for (unsigned DP = Depth(P), DQ = Depth(Q); P != Q;) {
    if (DP >= DQ) {
      P = P->Parent;
      --DP;
    } else {
      Q = Q->Parent;
      --DQ;
    }
  }
  leaveMeetings(A.Meets, P, A.Lanes);
  leaveMeetings(B.Meets, P, B.Lanes);
  if (A.Meets != P) {
    Meeting *Old = A.Meets;
    if (P)
      ++P->Uses;
    A.Meets = P;
    drop(Old);
  }
  A.Lanes |= B.Lanes;
  A.Priority = std::min(A.Priority, B.Priority);
  B.Lanes = 0;
  retire(&B);
  // Who waited for these lanes?
  for (Fragment *F : A.In->Fragments)
    if (F->Is == Fragment::State::Meeting &&
        (F->Meets->Expected & ~F->Lanes) == 0)
      setState(*F, Fragment::State::Ready);
}

void Device::releaseTogether(std::vector<Fragment *> Waiting) {
  std::sort(Waiting.begin(), Waiting.end(),
            [](const Fragment *A, const Fragment *B) { return A->Id < B->Id; });
  for (size_t N = 0; N < Waiting.size(); ++N) {
    Fragment *F = Waiting[N];
    if (!F)
      continue;
    for (size_t M = N + 1; M < Waiting.size(); ++M)
      if (Waiting[M] && Waiting[M]->In == F->In &&
          onSamePath(*F, *Waiting[M])) {
        merge(*F, *Waiting[M]);
        Waiting[M] = nullptr;
      }
    ++F->Pc;
    setState(*F, Fragment::State::Ready);
  }
}
