// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records that the host reads.
#ifndef CRSAN_DEVICE_COMMON_RECORDBUFFER_H
#define CRSAN_DEVICE_COMMON_RECORDBUFFER_H

#include "common/Device.h"

namespace crsan::device {

/// The counters of this context in device memory.
DEVICE Counters &counters() {
  return *reinterpret_cast<Counters *>(__crsan_config.Counters);
}

/// Where the host reads how often the race of record `Slot` was seen. The
/// counts follow the records in the buffer.
DEVICE volatile uint64_t *publishedHits(RecordBuffer *Buffer, uint32_t Slot) {
  auto *Records = reinterpret_cast<Record *>(Buffer + 1);
  return reinterpret_cast<volatile uint64_t *>(Records + Buffer->Capacity) +
         Slot;
}

/// Fills in the block, thread and grid shape of the calling thread for record
/// `Slot`.
DEVICE void writePlace(volatile Record &R, RecordBuffer *Buffer,
                       uint32_t Slot) {
  auto *Places = reinterpret_cast<volatile GridShape *>(
      publishedHits(Buffer, Buffer->Capacity));
  volatile GridShape &Place = Places[Slot];
  R.Block[0] = __nvvm_read_ptx_sreg_ctaid_x();
  R.Block[1] = __nvvm_read_ptx_sreg_ctaid_y();
  R.Block[2] = __nvvm_read_ptx_sreg_ctaid_z();
  R.Thread = __nvvm_read_ptx_sreg_tid_x() | __nvvm_read_ptx_sreg_tid_y() << 10 |
             __nvvm_read_ptx_sreg_tid_z() << 20;
  Place.Extent[0] = __nvvm_read_ptx_sreg_nctaid_x();
  Place.Extent[1] = __nvvm_read_ptx_sreg_nctaid_y();
  Place.Extent[2] = __nvvm_read_ptx_sreg_nctaid_z();
  Place.Cluster[0] = __crsan_cluster_extent(0);
  Place.Cluster[1] = __crsan_cluster_extent(1);
  Place.Cluster[2] = __crsan_cluster_extent(2);
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COMMON_RECORDBUFFER_H
