// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CudaRaceSanitizer for the programs it checks.
//
// Usable from C and C++, by any compiler: without CRSan the macros are empty.
// `__SANITIZE_CUDA_RACE__` is defined where -fsanitize=cuda-race is on.
#ifndef CRSAN_CRSAN_H
#define CRSAN_CRSAN_H

/// Before a function: accesses in it are not checked. For code that races on
/// purpose and cannot say so with atomics.
///
///     CRSAN_NO_SANITIZE __device__ void hint(int *Flag) { *Flag = 1; }
#if defined(__clang__) && defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define CRSAN_NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef CRSAN_NO_SANITIZE
#define CRSAN_NO_SANITIZE
#endif

#if defined(__cplusplus) && (defined(__CUDA__) || defined(__CUDACC__))
// A move of an address to a register whose name detectors read in PTX, and of
// which ptxas makes nothing.
#ifdef __SANITIZE_CUDA_RACE__
#define CRSAN_ANNOTATE(Name, Address)                                          \
  asm volatile("{\n\t.reg .b64 " Name ";\n\tmov.b64 " Name                     \
               ", %0;\n\t}" ::"l"(Address)                                     \
               : "memory")
#else
#define CRSAN_ANNOTATE(Name, Address) (void)(Address)
#endif

/// In device code: a plain load and a plain store that are not checked, for
/// races that the program can live with. Both sides of such a race need one.
///
///     if (crsan_benign_load(Found) == 0)
///       crsan_benign_store(Found, 1);
template <typename T>
CRSAN_NO_SANITIZE static __device__ __forceinline__ T
crsan_benign_load(const T *Address) {
  CRSAN_ANNOTATE("crsan_benign_begin", Address);
  const T Value = *Address;
  CRSAN_ANNOTATE("crsan_benign_end", Address);
  return Value;
}
template <typename T, typename V>
CRSAN_NO_SANITIZE static __device__ __forceinline__ void
crsan_benign_store(T *Address, V Value) {
  CRSAN_ANNOTATE("crsan_benign_begin", Address);
  *Address = Value;
  CRSAN_ANNOTATE("crsan_benign_end", Address);
}

/// In device code: what this thread has done so far happens before what a
/// thread does behind a later crsan_happens_after() with the same address. For
/// synchronization that CRSan cannot see. The two calls order nothing: without
/// that synchronization they hide a race. The address is of global or shared
/// memory, which is not accessed.
///
///     Node->Value = 1;
///     crsan_happens_before(Node);
///     publish(Node); // By means of its own.
static __device__ __forceinline__ void
crsan_happens_before(const volatile void *Address) {
  CRSAN_ANNOTATE("crsan_happens_before", Address);
}
static __device__ __forceinline__ void
crsan_happens_after(const volatile void *Address) {
  CRSAN_ANNOTATE("crsan_happens_after", Address);
}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Defined by a program: options that hold unless CRSAN_OPTIONS says otherwise,
/// in its form. Called once, perhaps before main.
///
///     const char *__crsan_default_options(void) { return "verbosity=1"; }
const char *__crsan_default_options(void);

#ifdef __GNUC__
// Of the run-time library, which only programs have that are linked with
// -fsanitize=cuda-race.
__attribute__((weak)) unsigned crsan_count_races(void);
__attribute__((weak)) void crsan_call_at_report(void (*Callback)(const char *));
#endif

/// In host code: how many findings the report would have now. Kernels that
/// still run may have more; wait for them first (cudaDeviceSynchronize). 0
/// without CRSan, without a GPU and in a forked child.
static inline unsigned crsan_race_count(void) {
#ifdef __GNUC__
  if (crsan_count_races)
    return crsan_count_races();
#endif
  return 0;
}

/// In host code: `Callback` gets each text of findings that CRSan prints,
/// beside the log: the report, which may come after the program's destructors,
/// and with print_live each new finding, from a thread of CRSan's. The text is
/// gone afterwards. A null pointer ends that. Does nothing without CRSan.
static inline void crsan_set_report_callback(void (*Callback)(const char *)) {
#ifdef __GNUC__
  if (crsan_call_at_report)
    crsan_call_at_report(Callback);
#endif
  (void)Callback;
}

#ifdef __cplusplus
}
#endif

#endif // CRSAN_CRSAN_H
