// Tensor copies (cp.async.bulk.tensor, TMA) and their maps.
#ifndef CRSAN_TEST_TENSOR_H
#define CRSAN_TEST_TENSOR_H

#include "asynchronous.h"

#include <cuda.h>

/// A map of the tensor of ints at \p Base, whose dimensions follow each other without gaps.
/// Sizes and the box begin with the innermost dimension.
template <unsigned Rank>
CUtensorMap mapOf(int *Base, const cuuint64_t (&Sizes)[Rank], const cuuint32_t (&Box)[Rank],
                  CUtensorMapSwizzle Swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  void *Function;
  cudaDriverEntryPointQueryResult Found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &Function, 12000,
                                         cudaEnableDefault, &Found));
  const auto Encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(Function);
  CUtensorMap Map;
  cuuint64_t Strides[Rank], Stride = sizeof(int);
  cuuint32_t Steps[Rank];
  for (unsigned D = 0; D < Rank; ++D) {
    Strides[D] = Stride *= Sizes[D];
    Steps[D] = 1;
  }
  if (Encode(&Map, CU_TENSOR_MAP_DATA_TYPE_INT32, Rank, Base, Sizes, Strides, Box, Steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, Swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::puts("cuTensorMapEncodeTiled fails");
    std::exit(1);
  }
  return Map;
}

/// A tile of the map, by column and row.
#define TENSOR_LOAD(To, Map, X, Y, Barrier)                                    \
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"           \
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"     \
               ::"r"(shared(To)), "l"(Map), "r"(X), "r"(Y), "r"(shared(Barrier)) \
               : "memory")
#define TENSOR_STORE(Map, X, Y, From)                                          \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "   \
               "[%0, {%1, %2}], [%3];" ::"l"(Map), "r"(X), "r"(Y),             \
               "r"(shared(From))                                               \
               : "memory")
/// The same in three dimensions, from or to column 0.
#define TENSOR_LOAD_SLICE(To, Map, Y, Z, Barrier)                              \
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"           \
               ".mbarrier::complete_tx::bytes [%0], [%1, {0, %2, %3}], [%4];"  \
               ::"r"(shared(To)), "l"(Map), "r"(Y), "r"(Z), "r"(shared(Barrier)) \
               : "memory")
#define TENSOR_ADD_SLICE(Map, Y, Z, From)                                      \
  asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile"    \
               ".bulk_group [%0, {0, %1, %2}], [%3];" ::"l"(Map), "r"(Y),      \
               "r"(Z), "r"(shared(From))                                       \
               : "memory")

#endif
