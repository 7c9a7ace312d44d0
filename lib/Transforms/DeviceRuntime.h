// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime linked into each module.
#ifndef CRSAN_TRANSFORMS_DEVICERUNTIME_H
#define CRSAN_TRANSFORMS_DEVICERUNTIME_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

#include <memory>

namespace crsan {

/// The entry points that are inlined (runtime/device/metadata/entry).
inline constexpr char InLinePrefix[] = "__crsan_in_";
/// The entry points of the collider (runtime/device/collider).
inline constexpr char CheckName[] = "__crsan_check";
inline constexpr char IsPlainName[] = "__crsan_is_plain";
inline constexpr char RenewPlainName[] = "__crsan_renew_plain";
inline constexpr char StoreName[] = "__crsan_store";
inline constexpr char WatchCopyName[] = "__crsan_watch_copy";
inline constexpr char UnwatchCopyName[] = "__crsan_unwatch_copy";
inline constexpr char WatchProductName[] = "__crsan_watch_product";
inline constexpr char UnwatchProductName[] = "__crsan_unwatch_product";
inline constexpr char HeapFenceName[] = "__crsan_heap_fence";
inline constexpr char BlockIndexName[] = "__crsan_block_index";
/// What both modes ask (runtime/device/common).
inline constexpr char BoxBytesName[] = "__crsan_box_bytes";
/// The entry points of metadata mode (runtime/device/metadata).
inline constexpr char EnterName[] = "__crsan_md_enter";
inline constexpr char IsFollowedName[] = "__crsan_in_is_followed";
inline constexpr char DrawName[] = "__crsan_md_draw";
inline constexpr char LeaveName[] = "__crsan_md_leave";
inline constexpr char SelfName[] = "__crsan_md_self";
inline constexpr char CountName[] = "__crsan_md_count";
inline constexpr char CountProvenName[] = "__crsan_in_count_proven";
inline constexpr char CountProvenCallName[] = "__crsan_md_count_proven";
inline constexpr char OwnersName[] = "__crsan_md_owners";
inline constexpr char OwnerName[] = "__crsan_md_owner";
inline constexpr char KnownExemptionsName[] = "__crsan_in_known_exemptions";
inline constexpr char SeekExemptionsName[] = "__crsan_md_seek_exemptions";
inline constexpr char NoteExemptionsName[] = "__crsan_md_note_exemptions";
inline constexpr char SnapshotName[] = "__crsan_md_snapshot";
inline constexpr char PagesName[] = "__crsan_md_pages";
inline constexpr char PagesFromName[] = "__crsan_md_pages_from";
inline constexpr char SitesName[] = "__crsan_md_sites";
inline constexpr char AccessCheckName[] = "__crsan_md_check";
inline constexpr char ReadCheckName[] = "__crsan_md_check_read";
inline constexpr char WriteCheckName[] = "__crsan_md_check_write";
inline constexpr char QuickCheckName[] = "__crsan_md_quick_check";
inline constexpr char ReleaseName[] = "__crsan_md_release";
inline constexpr char SwapReaderName[] = "__crsan_md_swap_reader";
inline constexpr char StrongDoneName[] = "__crsan_md_strong_done";
inline constexpr char FenceName[] = "__crsan_md_fence";
inline constexpr char WarpBarrierName[] = "__crsan_md_warp_barrier";
inline constexpr char BlockArriveName[] = "__crsan_md_block_arrive";
inline constexpr char BlockAgreeName[] = "__crsan_md_block_agree";
inline constexpr char BlockArriveUnevenName[] =
    "__crsan_md_block_arrive_uneven";
inline constexpr char BlockDepartName[] = "__crsan_md_block_depart";
inline constexpr char DivergedName[] = "__crsan_md_diverged";
inline constexpr char PublishName[] = "__crsan_md_publish";
inline constexpr char PublishFencedName[] = "__crsan_md_publish_fenced";
inline constexpr char CollectName[] = "__crsan_md_collect";
inline constexpr char CollectLaterName[] = "__crsan_md_collect_later";
inline constexpr char AllocatedName[] = "__crsan_md_allocated";
inline constexpr char CopyName[] = "__crsan_md_copy";
inline constexpr char MulticastName[] = "__crsan_md_multicast";
inline constexpr char TensorName[] = "__crsan_md_tensor";
inline constexpr char ProxyFenceName[] = "__crsan_md_proxy_fence";
inline constexpr char CommitCopiesName[] = "__crsan_md_commit_copies";
inline constexpr char AwaitBulkName[] = "__crsan_md_await_bulk";
inline constexpr char AwaitCopiesName[] = "__crsan_md_await_copies";
inline constexpr char AwaitAllCopiesName[] = "__crsan_md_await_all_copies";
inline constexpr char OperandName[] = "__crsan_md_operand";
inline constexpr char CommitProductsName[] = "__crsan_md_commit_products";
inline constexpr char AwaitProductsName[] = "__crsan_md_await_products";
inline constexpr char LearnName[] = "__crsan_md_learn";
inline constexpr char UnknownName[] = "__crsan_md_unknown";
inline constexpr char CallingName[] = "__crsan_md_calling";
inline constexpr char CalledName[] = "__crsan_md_called";
inline constexpr char ReturnedName[] = "__crsan_md_returned";
/// What units of an image share, besides the configuration.
inline constexpr char PermutationsName[] = "__crsan_permutations";
/// What the runtime asks the pass for (see defineClusterReads).
inline constexpr char ClusterExtentName[] = "__crsan_cluster_extent";
inline constexpr char ClusterIndexName[] = "__crsan_cluster_index";
inline constexpr char ClusterRankName[] = "__crsan_cluster_rank";
inline constexpr char IsSharedName[] = "__crsan_is_shared";

/// The device runtime, while it is being linked into a module.
class DeviceRuntime {
public:
  /// Declares the runtime's entry points in `M`, with the types that the
  /// runtime has them with. Null after an error has been reported to the
  /// module's context.
  static std::unique_ptr<DeviceRuntime> declareIn(llvm::Module &M);

  /// Links what the module calls, with internal linkage except for the
  /// configuration, which all modules of an image share; then specialises and
  /// inlines the checks in line (runtime/device/metadata/entry/InLine.h).
  /// Returns false after an error has been reported to the module's context.
  bool link(llvm::FunctionAnalysisManager &FAM);

private:
  DeviceRuntime(llvm::Module &M, std::unique_ptr<llvm::Module> Runtime)
      : M(M), Runtime(std::move(Runtime)) {}
  void prepare();

  llvm::Module &M;
  std::unique_ptr<llvm::Module> Runtime;
};

/// Calls an entry point that DeviceRuntime::declareIn has declared.
llvm::CallInst *callRuntime(llvm::IRBuilder<> &B, llvm::StringRef Name,
                            llvm::ArrayRef<llvm::Value *> Arguments);
/// Assembly that is one instruction, which nothing may merge, split or move
/// across the synchronisation that it belongs to.
llvm::CallInst *emitAssembly(llvm::IRBuilder<> &B, llvm::Type *Result,
                             llvm::StringRef Text, llvm::StringRef Constraints,
                             llvm::ArrayRef<llvm::Value *> Operands);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_DEVICERUNTIME_H
