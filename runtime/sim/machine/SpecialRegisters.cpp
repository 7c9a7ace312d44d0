// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// %tid, %clock and the like.
#include "Decoder.h"
#include "Device.h"

using namespace crsan::sim;

namespace {

struct Fixed {
  std::string_view Name;
  SpecialRow Row; ///< Of .x where it has members.
  bool IsVector = false;
};

constexpr Fixed FixedOnes[] = {
    {"%tid", SpecialRow::TidX, true},
    {"%ntid", SpecialRow::NtidX, true},
    {"%ctaid", SpecialRow::CtaidX, true},
    {"%nctaid", SpecialRow::NctaidX, true},
    {"%laneid", SpecialRow::LaneId},
    {"%warpid", SpecialRow::WarpId},
    {"%nwarpid", SpecialRow::NWarpId},
    {"%smid", SpecialRow::SmId},
    {"%nsmid", SpecialRow::NSmId},
    {"%gridid", SpecialRow::GridId64},
    {"%lanemask_eq", SpecialRow::LaneMaskEq},
    {"%lanemask_le", SpecialRow::LaneMaskLe},
    {"%lanemask_lt", SpecialRow::LaneMaskLt},
    {"%lanemask_ge", SpecialRow::LaneMaskGe},
    {"%lanemask_gt", SpecialRow::LaneMaskGt},
    {"%clusterid", SpecialRow::ClusterIdX, true},
    {"%nclusterid", SpecialRow::NClusterIdX, true},
    {"%cluster_ctaid", SpecialRow::ClusterCtaIdX, true},
    {"%cluster_nctaid", SpecialRow::ClusterNctaIdX, true},
    {"%cluster_ctarank", SpecialRow::ClusterCtaRank},
    {"%cluster_nctarank", SpecialRow::ClusterNctaRank},
    {"%dynamic_smem_size", SpecialRow::DynamicShared},
    {"%total_smem_size", SpecialRow::TotalShared},
    {"%aggr_smem_size", SpecialRow::TotalShared},
    {"%envreg1", SpecialRow::EnvReg1},
    {"%envreg2", SpecialRow::EnvReg2},
};

/// Aux: 0 low half, 1 high half, 2 all; +4 of the clock in nanoseconds.
Outcome readClock(Execution &X, const Instruction &I) {
  // The clock never shows the same time twice: programs draw random numbers
  // from it.
  uint64_t T = I.Aux & 4
                   ? X.D.Now
                   : X.D.Now * 2 + X.D.ThreadSteps + X.D.Steps + X.W->Steps++;
  T = (I.Aux & 3) == 1 ? T >> 32 : T;
  forLanes(X.Mask, [&](unsigned L) { X.setValue(I.Op[0], L, T); });
  return Outcome::Next;
}

Outcome isExplicitCluster(Execution &X, const Instruction &I) {
  X.setBits(I.Op[0], X.G->What.Cluster.count() > 1 ? AllLanes : 0);
  return Outcome::Next;
}

} // namespace

Ref crsan::sim::readSpecial(Decoder &D, std::string_view Name, char Member,
                            unsigned Size) {
  for (const Fixed &F : FixedOnes) {
    if (F.Name != Name || (Member != 0) != F.IsVector)
      continue;
    unsigned Row = unsigned(F.Row);
    if (Member == 'w')
      Row = unsigned(SpecialRow::Zero);
    else if (Member)
      Row += unsigned(Member - 'x');
    bool IsWide = F.Row == SpecialRow::GridId64;
    return D.resized(
        {Row * WarpSize * 4, Rows::Special, uint8_t(IsWide ? 8 : 4), true},
        Size);
  }
  static constexpr std::pair<std::string_view, unsigned> Clocks[] = {
      {"%clock", 0},       {"%clock_hi", 1},       {"%clock64", 2},
      {"%globaltimer", 6}, {"%globaltimer_lo", 4}, {"%globaltimer_hi", 5}};
  for (auto [Clock, How] : Clocks)
    if (Name == Clock) {
      Ref To = D.temporary(Size);
      D.emit(readClock, {To}).Aux = How;
      return To;
    }
  static constexpr std::pair<std::string_view, uint32_t> Reserved[] = {
      {"%reserved_smem_offset_begin", ReservedShared::Begin},
      {"%reserved_smem_offset_end", ReservedShared::End},
      {"%reserved_smem_offset_cap", ReservedShared::Size},
      {"%reserved_smem_offset_0", ReservedShared::Parts[0]},
      {"%reserved_smem_offset_1", ReservedShared::Parts[1]}};
  for (auto [Which, Value] : Reserved)
    if (Name == Which)
      return D.constant(Value, Size);
  if (Name == "%is_explicit_cluster" && Size == 0) {
    Ref To = D.temporary(0);
    D.emit(isExplicitCluster, {To});
    return To;
  }
  return {};
}
