// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc supplies and clang 22 does not.
//
// crsan-clang force-includes this file into CUDA sources, behind clang's own
// CUDA wrappers; -fno-sanitize-cuda-race-compat-header turns it off.
//
// What is written here is what the race checker sees, so that nothing may be
// hidden in inline assembly: a cache hint is a weak access with a hint, and
// __nv_atomic_* are LLVM's atomics with their order.
//
// Whatever is not a parameter of a macro has a reserved name: the user's own
// macros (-DX=64, -DH2) are there first.
#ifndef CRSAN_CUDA_COMPAT_H
#define CRSAN_CUDA_COMPAT_H

#if defined(__CUDA__) && defined(__clang__) && defined(__cplusplus)

// Its warnings are not the user's.
#pragma clang system_header

// nvcc has new and delete in device code without it; clang's device versions
// are there.
#include <new>

//===----------------------------------------------------------------------===//
// min and max for host code. nvcc's headers define them in the global namespace
// for all these pairs of types; clang's define the device's side only. They are
// templates so that the user's own functions, and std::min after `using
// namespace std`, are preferred or at least not ambiguous.
//===----------------------------------------------------------------------===//

#define CRSAN_MINMAX(Result, A, B)                                             \
  template <int = 0>                                                           \
  static inline __host__ Result min(const A __x, const B __y) {                \
    return static_cast<Result>(__x) < static_cast<Result>(__y)                 \
               ? static_cast<Result>(__x)                                      \
               : static_cast<Result>(__y);                                     \
  }                                                                            \
  template <int = 0>                                                           \
  static inline __host__ Result max(const A __x, const B __y) {                \
    return static_cast<Result>(__x) > static_cast<Result>(__y)                 \
               ? static_cast<Result>(__x)                                      \
               : static_cast<Result>(__y);                                     \
  }
// As fmin and fmax: a NaN gives way to a number.
#define CRSAN_MINMAX_FP(Result, A, B, Suffix)                                  \
  template <int = 0>                                                           \
  static inline __host__ Result min(const A __x, const B __y) {                \
    return __builtin_fmin##Suffix(__x, __y);                                   \
  }                                                                            \
  template <int = 0>                                                           \
  static inline __host__ Result max(const A __x, const B __y) {                \
    return __builtin_fmax##Suffix(__x, __y);                                   \
  }
#define CRSAN_MINMAX_INTEGER(Signed, Unsigned)                                 \
  CRSAN_MINMAX(Signed, Signed, Signed)                                         \
  CRSAN_MINMAX(Unsigned, Unsigned, Unsigned)                                   \
  CRSAN_MINMAX(Unsigned, Signed, Unsigned)                                     \
  CRSAN_MINMAX(Unsigned, Unsigned, Signed)

CRSAN_MINMAX_INTEGER(int, unsigned int)
CRSAN_MINMAX_INTEGER(long, unsigned long)
CRSAN_MINMAX_INTEGER(long long, unsigned long long)
CRSAN_MINMAX_FP(float, float, float, f)
CRSAN_MINMAX_FP(double, double, double, )
CRSAN_MINMAX_FP(double, float, double, )
CRSAN_MINMAX_FP(double, double, float, )

#undef CRSAN_MINMAX
#undef CRSAN_MINMAX_FP
#undef CRSAN_MINMAX_INTEGER

//===----------------------------------------------------------------------===//
// Device code: nan, and what a virtual call to a pure function ends in.
//===----------------------------------------------------------------------===//

static inline __device__ double nan(const char *) { return __builtin_nan(""); }
static inline __device__ float nanf(const char *) { return __builtin_nanf(""); }
namespace std {
using ::nan;
using ::nanf;
} // namespace std

#ifdef __CUDA_ARCH__
// The vtable of an abstract class names these; nobody calls them by name. Weak:
// every translation unit of a -fgpu-rdc program has them.
extern "C" {
__attribute__((weak, used, disable_sanitizer_instrumentation)) __device__ void
__cxa_pure_virtual() {
  __builtin_trap();
}
__attribute__((weak, used, disable_sanitizer_instrumentation)) __device__ void
__cxa_deleted_virtual() {
  __builtin_trap();
}
}
#endif

//===----------------------------------------------------------------------===//
// Cache hints: __ldcg and its like, for the types of CUDA's sm_32_intrinsics.h.
// Hints do not synchronise: all are weak accesses of the type's full width, but
// __ldcv and __stwt, which go past the caches and are volatile in PTX's terms.
//
// Clang 22 has four of them as inline assembly that it may move across stores
// (no "memory"); the names are taken over. cuda_fp16.h and its like, included
// later, add their overloads to ours.
//===----------------------------------------------------------------------===//

#define __ldcg __crsan_ldcg
#define __ldcs __crsan_ldcs
#define __ldcv __crsan_ldcv
#define __stwt __crsan_stwt

#define CRSAN_CACHE_HINTS(T, Vector)                                           \
  CRSAN_HINTED_LOAD(__ldcg, T, Vector)                                         \
  CRSAN_HINTED_LOAD(__ldca, T, Vector)                                         \
  CRSAN_HINTED_LOAD(__ldcs, T, Vector)                                         \
  CRSAN_HINTED_LOAD(__ldlu, T, Vector)                                         \
  CRSAN_VOLATILE_LOAD(__ldcv, T, Vector)                                       \
  CRSAN_HINTED_STORE(__stwb, T, Vector)                                        \
  CRSAN_HINTED_STORE(__stcg, T, Vector)                                        \
  CRSAN_HINTED_STORE(__stcs, T, Vector)                                        \
  CRSAN_VOLATILE_STORE(__stwt, T, Vector)
#define CRSAN_HINT static inline __device__ __attribute__((always_inline))

#define CRSAN_HINTED_LOAD(Name, T, Vector)                                     \
  CRSAN_HINT T Name(const T *__pointer) {                                      \
    return __builtin_bit_cast(                                                 \
        T, __builtin_nontemporal_load(                                         \
               reinterpret_cast<const crsan_compat::Vector *>(__pointer)));    \
  }
#define CRSAN_VOLATILE_LOAD(Name, T, Vector)                                   \
  CRSAN_HINT T Name(const T *__pointer) {                                      \
    crsan_compat::Vector __value =                                             \
        *reinterpret_cast<const volatile crsan_compat::Vector *>(__pointer);   \
    return __builtin_bit_cast(T, __value);                                     \
  }
#define CRSAN_HINTED_STORE(Name, T, Vector)                                    \
  CRSAN_HINT void Name(T *__pointer, T __value) {                              \
    __builtin_nontemporal_store(                                               \
        __builtin_bit_cast(crsan_compat::Vector, __value),                     \
        reinterpret_cast<crsan_compat::Vector *>(__pointer));                  \
  }
#define CRSAN_VOLATILE_STORE(Name, T, Vector)                                  \
  CRSAN_HINT void Name(T *__pointer, T __value) {                              \
    *reinterpret_cast<volatile crsan_compat::Vector *>(__pointer) =            \
        __builtin_bit_cast(crsan_compat::Vector, __value);                     \
  }

namespace crsan_compat {
// What an access of each type looks like in a register. may_alias: the memory's
// own type is another.
#define CRSAN_VECTORS(Name, T)                                                 \
  typedef T __attribute__((may_alias)) Name##1;                                \
  typedef T __attribute__((may_alias, ext_vector_type(2))) Name##2;            \
  typedef T __attribute__((may_alias, ext_vector_type(4))) Name##4;
CRSAN_VECTORS(__b, char)
CRSAN_VECTORS(__h, short)
CRSAN_VECTORS(__w, int)
CRSAN_VECTORS(__l, long)
CRSAN_VECTORS(__q, long long)
CRSAN_VECTORS(__f, float)
CRSAN_VECTORS(__d, double)
#undef CRSAN_VECTORS
} // namespace crsan_compat

CRSAN_CACHE_HINTS(char, __b1)
CRSAN_CACHE_HINTS(signed char, __b1)
CRSAN_CACHE_HINTS(unsigned char, __b1)
CRSAN_CACHE_HINTS(short, __h1)
CRSAN_CACHE_HINTS(unsigned short, __h1)
CRSAN_CACHE_HINTS(int, __w1)
CRSAN_CACHE_HINTS(unsigned int, __w1)
CRSAN_CACHE_HINTS(long, __l1)
CRSAN_CACHE_HINTS(unsigned long, __l1)
CRSAN_CACHE_HINTS(long long, __q1)
CRSAN_CACHE_HINTS(unsigned long long, __q1)
CRSAN_CACHE_HINTS(float, __f1)
CRSAN_CACHE_HINTS(double, __d1)
CRSAN_CACHE_HINTS(char2, __b2)
CRSAN_CACHE_HINTS(char4, __b4)
CRSAN_CACHE_HINTS(uchar2, __b2)
CRSAN_CACHE_HINTS(uchar4, __b4)
CRSAN_CACHE_HINTS(short2, __h2)
CRSAN_CACHE_HINTS(short4, __h4)
CRSAN_CACHE_HINTS(ushort2, __h2)
CRSAN_CACHE_HINTS(ushort4, __h4)
CRSAN_CACHE_HINTS(int2, __w2)
CRSAN_CACHE_HINTS(int4, __w4)
CRSAN_CACHE_HINTS(uint2, __w2)
CRSAN_CACHE_HINTS(uint4, __w4)
CRSAN_CACHE_HINTS(longlong2, __q2)
CRSAN_CACHE_HINTS(ulonglong2, __q2)
CRSAN_CACHE_HINTS(float2, __f2)
CRSAN_CACHE_HINTS(float4, __f4)
CRSAN_CACHE_HINTS(double2, __d2)

#undef CRSAN_CACHE_HINTS
#undef CRSAN_HINTED_LOAD
#undef CRSAN_VOLATILE_LOAD
#undef CRSAN_HINTED_STORE
#undef CRSAN_VOLATILE_STORE
#undef CRSAN_HINT

//===----------------------------------------------------------------------===//
// __nv_atomic_*: nvcc's built-in functions. Macros, because clang wants order
// and scope as constants to give each its own instruction; the scope may be
// left out. Clang 22 makes every scope the system's for NVPTX: stronger than
// written.
//===----------------------------------------------------------------------===//

#ifndef __NV_ATOMIC_RELAXED
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD __MEMORY_SCOPE_SINGLE
#define __NV_THREAD_SCOPE_BLOCK __MEMORY_SCOPE_WRKGRP
#ifdef __MEMORY_SCOPE_CLUSTR
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_CLUSTR
#else
#define __NV_THREAD_SCOPE_CLUSTER __MEMORY_SCOPE_DEVICE
#endif
#define __NV_THREAD_SCOPE_DEVICE __MEMORY_SCOPE_DEVICE
#define __NV_THREAD_SCOPE_SYSTEM __MEMORY_SCOPE_SYSTEM

// Order and scope; where the caller names no scope, the default slides into its
// place.
#define CRSAN_ORDERED(...)                                                     \
  CRSAN_FIRST_TWO(__VA_ARGS__, __NV_THREAD_SCOPE_SYSTEM, )
#define CRSAN_FIRST_TWO(Order, Scope, ...) Order, Scope

// Clang 22 forgets the order of a read-modify-write on its way to PTX (not of a
// compare-and-exchange): it becomes a relaxed one, and a program that relies on
// the order becomes racy. Fences around a relaxed one are what the order means.
#define CRSAN_RELEASES(Order) ((Order) >= __ATOMIC_RELEASE)
#define CRSAN_ACQUIRES(Order)                                                  \
  ((Order) != __ATOMIC_RELAXED && (Order) != __ATOMIC_RELEASE)
#define CRSAN_BEFORE(Order, Scope)                                             \
  if (CRSAN_RELEASES(Order))                                                   \
  __scoped_atomic_thread_fence(                                                \
      (Order) == __ATOMIC_SEQ_CST ? __ATOMIC_SEQ_CST : __ATOMIC_RELEASE, Scope)
#define CRSAN_AFTER(Order, Scope)                                              \
  if (CRSAN_ACQUIRES(Order))                                                   \
  __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, Scope)
#define CRSAN_EXCHANGE(...) CRSAN_EXCHANGE_WITH(__VA_ARGS__)
#define CRSAN_EXCHANGE_WITH(P, V, R, Order, Scope)                             \
  __extension__({                                                              \
    CRSAN_BEFORE(Order, Scope);                                                \
    __scoped_atomic_exchange(P, V, R, __ATOMIC_RELAXED, Scope);                \
    CRSAN_AFTER(Order, Scope);                                                 \
  })
#define CRSAN_MODIFY(...) CRSAN_MODIFY_WITH(__VA_ARGS__)
#define CRSAN_MODIFY_WITH(Operation, P, V, Order, Scope)                       \
  __extension__({                                                              \
    CRSAN_BEFORE(Order, Scope);                                                \
    auto __crsan_old =                                                         \
        __scoped_atomic_##Operation(P, V, __ATOMIC_RELAXED, Scope);            \
    CRSAN_AFTER(Order, Scope);                                                 \
    __crsan_old;                                                               \
  })

#define __nv_atomic_load(P, R, ...)                                            \
  __scoped_atomic_load(P, R, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_load_n(P, ...)                                             \
  __scoped_atomic_load_n(P, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_store(P, V, ...)                                           \
  __scoped_atomic_store(P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_store_n(P, V, ...)                                         \
  __scoped_atomic_store_n(P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_exchange(P, V, R, ...)                                     \
  CRSAN_EXCHANGE(P, V, R, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_exchange_n(P, V, ...)                                      \
  CRSAN_MODIFY(exchange_n, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_compare_exchange(P, E, V, W, S, ...)                       \
  __scoped_atomic_compare_exchange(P, E, V, W, S, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_compare_exchange_n(P, E, V, W, S, ...)                     \
  __scoped_atomic_compare_exchange_n(P, E, V, W, S, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_add(P, V, ...)                                       \
  CRSAN_MODIFY(fetch_add, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_sub(P, V, ...)                                       \
  CRSAN_MODIFY(fetch_sub, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_and(P, V, ...)                                       \
  CRSAN_MODIFY(fetch_and, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_or(P, V, ...)                                        \
  CRSAN_MODIFY(fetch_or, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_xor(P, V, ...)                                       \
  CRSAN_MODIFY(fetch_xor, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_min(P, V, ...)                                       \
  CRSAN_MODIFY(fetch_min, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_fetch_max(P, V, ...)                                       \
  CRSAN_MODIFY(fetch_max, P, V, CRSAN_ORDERED(__VA_ARGS__))
#define __nv_atomic_add(...) ((void)__nv_atomic_fetch_add(__VA_ARGS__))
#define __nv_atomic_sub(...) ((void)__nv_atomic_fetch_sub(__VA_ARGS__))
#define __nv_atomic_and(...) ((void)__nv_atomic_fetch_and(__VA_ARGS__))
#define __nv_atomic_or(...) ((void)__nv_atomic_fetch_or(__VA_ARGS__))
#define __nv_atomic_xor(...) ((void)__nv_atomic_fetch_xor(__VA_ARGS__))
#define __nv_atomic_min(...) ((void)__nv_atomic_fetch_min(__VA_ARGS__))
#define __nv_atomic_max(...) ((void)__nv_atomic_fetch_max(__VA_ARGS__))
#define __nv_atomic_thread_fence(...)                                          \
  __scoped_atomic_thread_fence(CRSAN_ORDERED(__VA_ARGS__))
#endif // __NV_ATOMIC_RELAXED

//===----------------------------------------------------------------------===//
// Clusters: cooperative groups look for nvcc's name to know that the compiler
// has the intrinsics; clang has them.
//===----------------------------------------------------------------------===//

#define _CG_CLUSTER_INTRINSICS_AVAILABLE

// Clang 22 checks __cluster_dims__ and then drops it for NVIDIA's GPUs, so that a
// kernel would run without its cluster. CRSan's pass reads the annotation
// (lib/Transforms/ClusterDims.h).
#ifdef __CUDA_ARCH__
#undef __cluster_dims__
#define __cluster_dims__(...)                                                  \
  __attribute__((cluster_dims(__VA_ARGS__),                                    \
                 annotate("crsan.cluster_dims", __VA_ARGS__)))
#endif

#endif // __CUDA__ && __clang__ && __cplusplus
#endif // CRSAN_CUDA_COMPAT_H
