// Random kernels 0 to 24 of seed 5110.
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

static void check(cudaError_t Error) {
  if (Error == cudaSuccess)
    return;
  std::printf("error: %s\n", cudaGetErrorString(Error));
  std::exit(1);
}

// Device memory, all bytes zero.
template <typename T> struct Buffer {
  T *Data;
  size_t N;
  explicit Buffer(size_t N) : N(N) {
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

// Of a kernel that is repeatable the hash is the same in every run.
static bool finish(unsigned Number, bool IsRepeatable, std::initializer_list<unsigned long long> Hashes) {
  unsigned long long Hash = 0;
  for (unsigned long long H : Hashes)
    Hash = Hash * 31 + H;
  std::printf("kernel %u %s %016llx\n", Number, IsRepeatable ? "repeatable" : "varying", Hash);
  std::fflush(stdout);
  return true;
}

// ---- kernel 0, 0 weaknesses ----
__global__ void k0(const unsigned *__restrict__ In, unsigned *Out, int *W3, unsigned short *W4) {
  __shared__ int S1[32];
  __shared__ double S2[32];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 32u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 749u;
  unsigned V2 = In[(Gid * 3u + 570u) % 1024u] % 64u;
  unsigned V3 = Block + 87u;
  for (unsigned I = Tid; I < 32u; I += 32u) {
    S1[I] = cell<int>(In[(I * 17u + 38u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 32u; I += 32u) {
    S2[I] = cell<double>(In[(I * 31u + 28u) % 1024u]); // keep
  }
  __syncthreads();
  unsigned I5 = 0u; // keep
  do {
    if (Tid % 2u == 0u) {
      S1[((Tid / 2u) + 12u) % 16u + ((V3 >> 7)) % 2u * 16u] ^= V1;
      W3[(Gid * 5u + 25u) % 64u] = cell<int>(__brev((max(V1, V2))));
    }
    ++I5; // keep
  } while (I5 < 3u && fold(W4[(Gid * 15u + 59u) % 64u]) % 5u == 4u);
  V2 += I5;
  V2 -= V1;
  S2[(Tid * 23u + 30u) % 32u] = cell<double>(fold(S2[(Tid * 23u + 30u) % 32u]) + V2);
  V1 ^= __shfl_up_sync(~0u, Lane, 5);
  __builtin_memset(&W4[(Gid * 15u + 59u) % 64u], 74, sizeof(unsigned short));
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run0(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<int> W3(64);
  Buffer<unsigned short> W4(64);
  k0<<<2, 32, 0>>>(In, Out.Data, W3.Data, W4.Data);
  return finish(0, true, {Out.hash(), W3.hash(), W4.hash()});
}

// ---- kernel 1, 0 weaknesses ----
__device__ __forceinline__ void meet1_7() {
  __syncthreads();
}

__global__ void k1(const unsigned *In, unsigned *Out, Bits *G1All) {
  __shared__ unsigned char S2[128];
  __shared__ unsigned char S3[128];
  __shared__ unsigned char S8[32];
  __shared__ unsigned S11[64];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 403u;
  unsigned V2 = In[(Gid * 3u + 961u) % 1024u] % 64u;
  unsigned V3 = Block + 86u;
  Bits *G1 = G1All + ((Block + 1u) % 4u) * 16u;
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S2[I] = cell<unsigned char>(In[(I * 23u + 31u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S3[I] = cell<unsigned char>(In[(I * 21u + 23u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 32u; I += 128u) {
    S8[I] = cell<unsigned char>(In[(I * 7u + 42u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 64u; I += 128u) {
    S11[I] = cell<unsigned>(In[(I * 13u + 50u) % 1024u]); // keep
  }
  __syncthreads();
  if (Tid < 16u) {
    G1[Tid].A = V0;
    V1 += G1[Tid].B;
  }
  __syncthreads();
  if (Tid >= 16u && Tid < 32u) {
    G1[Tid - 16u].B = V1;
    V0 += G1[Tid - 16u].A;
  }
  __syncthreads();
  unsigned char *P4 = S2;
  unsigned char *P5 = S3;
  for (unsigned R = 0; R < 4u; ++R) {
    P4[Tid] = cell<unsigned char>(V0 + R);
    __syncthreads();
    V0 += fold(P4[(Tid + 74u) % 128u]);
    unsigned char *P6 = P4; // keep
    P4 = P5; // keep
    P5 = P6; // keep
  }
  meet1_7();
  const unsigned Key9 = V2 % 8u;
  const unsigned Mates10 = __match_any_sync(~0u, Key9);
  if (Lane == (unsigned)__ffs((int)Mates10) - 1u) {
    S8[Warp * 8u + Key9] = cell<unsigned char>(fold(S8[Warp * 8u + Key9]) + (unsigned)__popc(Mates10));
  }
  __syncwarp();
  V2 += fold(S8[Warp * 8u + V0 % 8u]);
  __syncthreads();
  if (Tid < 64u) {
    for (unsigned R = 0; R < 3u; ++R) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      S11[(Tid * 7u + 63u) % 64u] = cell<unsigned>(V0 + R);
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
  } else {
    for (unsigned R = 0; R < 3u; ++R) {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      V0 += fold(S11[(Tid + 35u) % 64u]);
    }
  }
  __syncthreads();
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run1(const unsigned *In) {
  Buffer<unsigned> Out(512);
  Buffer<Bits> G1(64);
  k1<<<4, 128, 0>>>(In, Out.Data, G1.Data);
  return finish(1, true, {Out.hash(), G1.hash()});
}

// ---- kernel 2, 1 weaknesses ----
__device__ __noinline__ void meet2_2() {
  __syncthreads();
}

__device__ __noinline__ unsigned f2_7(short *P, unsigned V) {
  return fold(*P) + V;
}

__global__ void k2(const unsigned *__restrict__ In, unsigned *Out, short *W1, unsigned *W3, unsigned *W4) {
  const unsigned Tid = threadIdx.y * 16u + threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 977u;
  unsigned V2 = In[(Gid * 3u + 723u) % 1024u] % 64u;
  unsigned V3 = Block + 99u;
  meet2_2();
  if (Tid == 0u) {
    if (Block == 0u) {
      W3[0] = cell<unsigned>(V0 | 1u);
      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
      atomicExch_block(&W4[0], 1u);
    } else if (Block == 1u) {
      unsigned Seen = 0u;
      for (unsigned Try = 0; Try < 200u && Seen == 0u; ++Try) {
        unsigned Flag = atomicAdd_block(&W4[0], 0u);
        if (Flag == 1u) {
          __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
          Seen = 1u;
        }
        if (Seen == 0u) {
          __nanosleep(20);
        }
      }
      if (Seen != 0u) {
        W3[1] = cell<unsigned>(fold(W3[0]) + 5u);
        __threadfence();
        *(volatile unsigned *)(&W4[1]) = 1u;
      }
    } else if (Block == 2u) {
      unsigned Seen = 0u;
      for (unsigned Try = 0; Try < 200u && Seen == 0u; ++Try) {
        unsigned Flag = *(volatile unsigned *)(&W4[1]);
        if (Flag == 1u) {
          __threadfence();
          Seen = 1u;
        }
        if (Seen == 0u) {
          __nanosleep(20);
        }
      }
      if (Seen != 0u) {
        V1 += fold(W3[0]);
        W3[1] = cell<unsigned>(V1);
      }
    }
  }
  V3 += __syncthreads_count(V0 % 2u);
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  __builtin_memset(&W1[((Gid * 423u + 100u) % 512u) * 2u + (V2 + In[(V3 + 667u) % 1024u]) % 2u], 9, sizeof(short));
  W1[((Gid * 423u + 100u) % 512u) * 2u + ((4845u >> 8)) % 2u] = cell<short>(In[(V2 + 368u) % 1024u]);
  __syncthreads();
  if (Warp == 3u) {
    Out[Gid] = V0; // keep
    return;
  }
  for (unsigned I5 = 0; I5 < 2u; ++I5) {
    unsigned L6[8] = {5u, 6u, In[(V2 + 915u) % 1024u], V0, 27u, V1, In[(V3 + 684u) % 1024u], In[(V0 + 389u) % 1024u]};
    L6[V0 % 8u] += Warp;
    V2 += L6[In[(V0 + 549u) % 1024u] % 8u];
    switch (V1 % 4u) {
      case 0u: {
        V3 ^= f2_7(&W1[((Gid * 423u + 100u) % 512u) * 2u + (3604u) % 2u], V1);
        break;
      }
      case 1u: {
        unsigned I8 = 0u; // keep
        while (I8 < 4u && fold(W1[((Gid * 423u + 100u) % 512u) * 2u + ((Lane >> 1)) % 2u]) % 3u == 2u) {
          ++I8; // keep
        }
        V2 += I8;
        break;
      }
      case 2u: {
        __builtin_memset(&W1[((Gid * 423u + 100u) % 512u) * 2u + (Block) % 2u], 3, sizeof(short));
        break;
      }
      default: {
        unsigned I9 = 0u; // keep
        while (I9 < 4u && fold(W1[((Gid * 423u + 100u) % 512u) * 2u + (V3) % 2u]) % 3u != 2u) {
          ++I9; // keep
        }
        V2 += I9;
      }
    }
    V0 += fold(W1[((Gid * 423u + 100u) % 512u) * 2u + (132u + V2) % 2u]);
  }
  V1 = V1 * 5u + fold(W1[((Gid * 423u + 100u) % 512u) * 2u + ((Tid >> 5)) % 2u]);
  W1[((Gid * 423u + 100u) % 512u) * 2u + (Warp) % 2u] = cell<short>(V0);
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run2(const unsigned *In) {
  Buffer<unsigned> Out(512);
  Buffer<short> W1(1024);
  Buffer<unsigned> W3(2);
  Buffer<unsigned> W4(2);
  k2<<<4, dim3(16, 8), 0>>>(In, Out.Data, W1.Data, W3.Data, W4.Data);
  return finish(2, false, {Out.hash(), W1.hash(), W3.hash(), W4.hash()});
}

// ---- kernel 3, 0 weaknesses ----
__device__ __forceinline__ void meet3_1() {
  __syncthreads();
}

__device__ __noinline__ void meet3_7() {
  __syncthreads();
}

__global__ void k3(const unsigned *In, unsigned *Out, int *W2, unsigned *W3, unsigned *G5All, Cell *G6All, unsigned *G8All, Cell *G9All, Bits *G10All) {
  __shared__ unsigned S4[1];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 32u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 491u;
  unsigned V2 = In[(Gid * 3u + 472u) % 1024u] % 64u;
  unsigned V3 = Block + 38u;
  unsigned *G5 = G5All + (Block % 2u) * 16u;
  Cell *G6 = G6All + (Block % 2u) * 16u;
  unsigned *G8 = G8All + (Block % 2u) * 16u;
  Cell *G9 = G9All + ((Block + 1u) % 2u) * 16u;
  Bits *G10 = G10All + (Block % 2u) * 16u;
  for (unsigned I = Tid; I < 1u; I += 32u) {
    S4[I] = cell<unsigned>(0u); // keep
  }
  meet3_1();
  if (Block == 1u) {
    W2[(Tid + 14u) % 32u] = cell<int>(V0 + Tid);
    __syncthreads();
    if (Tid == 0u) {
      __nv_atomic_store_n(&W3[0], 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
    }
  } else {
    unsigned Seen = 0u;
    for (unsigned Try = 0; Try < 200u && Seen == 0u; ++Try) {
      unsigned Flag = __nv_atomic_load_n(&W3[0], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
      if (Flag == 1u) {
        Seen = 1u;
      }
      if (Seen == 0u) {
        __nanosleep(20);
      }
    }
    if (Seen != 0u) {
      V1 += fold(W2[In[(V1 + 801u) % 1024u] % 32u]);
    }
  }
  __syncthreads();
  const unsigned AtG5 = (V3) % 16u;
  if (atomicCAS(&G5[AtG5], 0u, Tid + 1u) == 0u) {
    G6[AtG5] = cell<Cell>(V0 + Tid);
  }
  __syncthreads();
  V0 += fold(G6[V1 % 16u]);
  meet3_7();
  const unsigned AtG8 = (((V0 + In[(V1 + 647u) % 1024u]) ^ V3)) % 16u;
  if (atomicCAS(&G8[AtG8], 0u, Tid + 1u) == 0u) {
    G9[AtG8] = cell<Cell>(V0 + Tid);
  }
  __syncthreads();
  V0 += fold(G9[V1 % 16u]);
  __syncthreads();
  if (Tid < 16u) {
    G10[Tid].A = V0;
    V1 += G10[Tid].B;
  }
  __syncthreads();
  if (Tid >= 16u && Tid < 32u) {
    G10[Tid - 16u].B = V1;
    V0 += G10[Tid - 16u].A;
  }
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run3(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<int> W2(32);
  Buffer<unsigned> W3(4);
  Buffer<unsigned> G5(32);
  Buffer<Cell> G6(32);
  Buffer<unsigned> G8(32);
  Buffer<Cell> G9(32);
  Buffer<Bits> G10(32);
  k3<<<2, 32, 0>>>(In, Out.Data, W2.Data, W3.Data, G5.Data, G6.Data, G8.Data, G9.Data, G10.Data);
  return finish(3, false, {Out.hash(), W2.hash(), W3.hash(), G5.hash(), G6.hash(), G8.hash(), G9.hash(), G10.hash()});
}

// ---- kernel 4, 3 weaknesses ----
__global__ void k4(const unsigned *__restrict__ In, unsigned *Out) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  Wide *D1 = (Wide *)Dynamic;
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 40u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 459u;
  unsigned V2 = In[(Gid * 3u + 276u) % 1024u] % 64u;
  unsigned V3 = Block + 18u;
  for (unsigned I = Tid; I < 40u; I += 40u) {
    D1[I] = cell<Wide>(In[(I * 33u + 47u) % 1024u]); // keep
  }
  __syncwarp();
  for (unsigned I2 = 0; I2 < 2u; ++I2) {
    V1 = I2 * 3u < V2 ? fold(D1[(Tid * 11u + 5u) % 40u]) : I2;
  }
  const unsigned N4 = V0 % 4u;
  for (unsigned I3 = 0; I3 < N4; ++I3) {
    for (unsigned I5 = 0; I5 < 4u; ++I5) {
      if ((V3 * 3u < V0) && fold(D1[(Tid * 11u + 5u) % 40u]) % 7u == 0u) {
        continue;
      }
      D1[(Tid * 11u + 5u) % 40u] = cell<Wide>(fold(D1[(Tid * 11u + 5u) % 40u]) + ((unsigned)__popc(V3) * (2u >> 7)));
    }
    V0 = I3 * 3u < In[(V0 + 1012u) % 1024u] ? fold(D1[((Tid * 11u + 5u) % 40u + 1u) % 40u]) : V0;
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  }
  __syncwarp();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run4(const unsigned *In) {
  Buffer<unsigned> Out(40);
  k4<<<1, 40, 40 * sizeof(Wide)>>>(In, Out.Data);
  return finish(4, false, {Out.hash()});
}

// ---- kernel 5, 0 weaknesses ----
__device__ __noinline__ void meet5_3() {
  __syncthreads();
}

__global__ void k5(const unsigned *In, unsigned *Out, unsigned short *G1All) {
  __shared__ double S2[512];
  __shared__ float4 S4[128];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 785u;
  unsigned V2 = In[(Gid * 3u + 491u) % 1024u] % 64u;
  unsigned V3 = Block + 12u;
  unsigned short *G1 = G1All + ((Block + 1u) % 2u) * 128u;
  for (unsigned I = Tid; I < 512u; I += 128u) {
    S2[I] = cell<double>(In[(I * 17u + 17u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S4[I] = cell<float4>(In[(I * 25u + 56u) % 1024u]); // keep
  }
  meet5_3();
  for (unsigned R = 0; R < 2u; ++R) {
    S4[Tid] = cell<float4>(V0 + R);
    asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");
    V0 ^= fold(S4[Tid / 64u * 64u + (Tid + 22u) % 64u]);
    asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");
  }
  V3 ^= __syncthreads_or(V0 % 64u == 3u);
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run5(const unsigned *In) {
  Buffer<unsigned> Out(256);
  Buffer<unsigned short> G1(256);
  k5<<<2, 128, 0>>>(In, Out.Data, G1.Data);
  return finish(5, true, {Out.hash(), G1.hash()});
}

// ---- kernel 6, 1 weaknesses ----
__device__ __forceinline__ unsigned f6_5(unsigned *P, unsigned *Q, unsigned V) {
  unsigned Old = fold(*P);
  *Q = cell<unsigned>(Old + V);
  Old += fold(*P);
  *P = cell<unsigned>(Old * 3u);
  return Old - fold(*Q);
}

__device__ __forceinline__ void meet6_6() {
  __syncthreads();
}

__global__ void k6(const unsigned *In, unsigned *Out, short *G2All) {
  __shared__ unsigned S1[128];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 531u;
  unsigned V2 = In[(Gid * 3u + 970u) % 1024u] % 64u;
  unsigned V3 = Block + 88u;
  short *G2 = G2All + (Block % 2u) * 128u;
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S1[I] = cell<unsigned>(In[(I * 11u + 55u) % 1024u]); // keep
  }
  V3 += __syncthreads_count(V0 % 2u);
  for (unsigned R3 = 0; R3 < In[5] % 2u + 1u; ++R3) {
    unsigned L4[2] = {V2, V0};
    L4[V0 % 2u] += In[(V0 + 294u) % 1024u];
    L4[V0 % 2u] = fold(S1[(Tid * 9u + 104u) % 128u]);
    V0 += L4[V0 % 2u];
    V1 += f6_5(&S1[(Tid * 9u + 104u) % 128u], &S1[Tid % 64u], 15u);
    G2[(Tid - Lane % 16u) + ((Lane % 16u) * 9u + 8u) % 16u] = cell<short>((max((unsigned)__popc(V2), V3)));
    __syncwarp((0xffffu << Lane / 16u * 16u));
    V3 += fold(G2[(Tid - Lane % 16u) + ((V2 >> 1)) % 16u]);
    __syncwarp((0xffffu << Lane / 16u * 16u));
    meet6_6();
  }
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run6(const unsigned *In) {
  Buffer<unsigned> Out(256);
  Buffer<short> G2(256);
  k6<<<2, 128, 0>>>(In, Out.Data, G2.Data);
  return finish(6, false, {Out.hash(), G2.hash()});
}

// ---- kernel 7, 0 weaknesses ----
static __device__ unsigned f7_4(unsigned *P, unsigned V) {
  unsigned Old = fold(*P);
  if (V % 3u != 0u) {
    *P = cell<unsigned>(Old + V);
  }
  return Old;
}

__device__ __noinline__ unsigned f7_9(unsigned *P, unsigned V) {
  return fold(*P) + V;
}

__global__ void k7(const unsigned *In, unsigned *Out) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned *D1 = (unsigned *)Dynamic;
  __shared__ short S14[128];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 499u;
  unsigned V2 = In[(Gid * 3u + 704u) % 1024u] % 64u;
  unsigned V3 = Block + 42u;
  for (unsigned I = Tid; I < 512u; I += 128u) {
    D1[I] = cell<unsigned>(In[(I * 45u + 20u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S14[I] = cell<short>(In[(I * 31u + 36u) % 1024u]); // keep
  }
  __syncthreads();
  for (unsigned R2 = 0; R2 < 2u; ++R2) {
    if (V2 * 3u < V0) {
      D1[((Tid * 25u + 7u) % 128u) * 4u + (7u + V0) % 4u] = cell<unsigned>(V1);
    } else {
      __builtin_memset(&D1[((Tid * 25u + 7u) % 128u) * 4u + ((Lane >> 0)) % 4u], 46, sizeof(unsigned));
      if (((V1 & 2u) != 0u) && fold(D1[((Tid * 25u + 7u) % 128u) * 4u + ((In[(V0 + 1017u) % 1024u] >> 1)) % 4u]) % 7u == 2u) {
        for (unsigned I3 = 0; I3 < Tid % 3u + 1u; ++I3) {
          V3 ^= f7_4(&D1[((Tid * 25u + 7u) % 128u) * 4u + (I3) % 4u], (max(V0, I3)));
        }
        V0 += ((unsigned char *)&D1[((Tid * 25u + 7u) % 128u) * 4u + ((Lane >> 7)) % 4u])[V0 % 4u];
      } else {
        unsigned *P5 = (V0 & 4u) != 0u ? &D1[((Tid * 25u + 7u) % 128u) * 4u + (V2) % 4u] : &D1[((Tid * 25u + 7u) % 128u) * 4u + ((V2 >> 4)) % 4u];
        *P5 += Tid;
      }
    }
    switch (Lane % 4u) {
      case 0u: {
        D1[((Tid * 25u + 7u) % 128u) * 4u + ((V2 >> 2)) % 4u] = cell<unsigned>(fold(D1[((Tid * 25u + 7u) % 128u) * 4u + ((V2 >> 2)) % 4u]) + (3626u + (V0 ^ V3)));
        break;
      }
      case 1u: {
        V1 ^= fold(D1[((Tid * 25u + 7u) % 128u) * 4u + (29u + V2) % 4u]);
        break;
      }
      default: {
        if ((V1 & 1u) != 0u) {
          V1 ^= fold(D1[((Tid * 25u + 7u) % 128u) * 4u + (V0 + V0) % 4u]);
          V0 = V0 * 5u + fold(D1[((Tid * 25u + 7u) % 128u) * 4u + ((V3 >> 0)) % 4u]);
        }
      }
    }
    unsigned I6 = 0u; // keep
    do {
      const unsigned N8 = V3 % 4u;
      for (unsigned I7 = 0; I7 < N8; ++I7) {
        *(volatile unsigned *)&D1[((Tid * 25u + 7u) % 128u) * 4u + ((Warp >> 8)) % 4u] = cell<unsigned>(2656u);
      }
      ++I6; // keep
    } while (I6 < 3u && fold(D1[((Tid * 25u + 7u) % 128u) * 4u + (V2) % 4u]) % 3u != 2u);
    V2 += I6;
    D1[((Tid * 25u + 7u) % 128u) * 4u + ((V2 >> 2)) % 4u] = cell<unsigned>(0u);
    V3 ^= f7_9(&D1[((Tid * 25u + 7u) % 128u) * 4u + (Tid + 31u) % 4u], (unsigned)__clz(V1));
    __syncthreads();
  }
  for (unsigned R10 = 0; R10 < 2u; ++R10) {
    V3 += __ballot_sync(~0u, (Tid * 3u < V1) || fold(D1[((1112u >> 7)) % 512u]) % 2u == 1u);
    for (unsigned I11 = 0; I11 < 4u; ++I11) {
      V3 += fold(D1[((I11 >> 3)) % 512u]);
    }
    V1 -= In[(V3 + 160u) % 1024u];
    __syncthreads();
  }
  for (unsigned R12 = 0; R12 < 3u; ++R12) {
    V1 += (min(V2, (V1 * Gid)));
    V2 ^= ((V3 >> 7) - (max(V2, 1u)));
    D1[Warp * 32u + (Lane * 25u + 2u) % 32u] = cell<unsigned>(V2);
    __syncwarp(~0u);
    V1 += fold(D1[Warp * 32u + (V1 + V0) % 32u]);
    __syncwarp(~0u);
    V3 ^= __syncthreads_or(V0 % 64u == 3u);
    V0 = Lane < 5u ? fold(D1[(V1) % 512u]) : 0u;
    V0 = ((__umulhi(V3, V0)) ^ V1);
    unsigned I13 = 0u; // keep
    while (I13 < 4u && fold(D1[(Block) % 512u]) % 2u == 1u) {
      ++I13; // keep
    }
    V2 += I13;
    V1 -= ((((Block & Lane)) & V2));
    V3 = (Lane < 24u) && fold(D1[(V2) % 512u]) % 3u == 0u ? fold(D1[(V0) % 512u]) : 7u;
    __syncthreads();
  }
  for (unsigned R = 0; R < 1u; ++R) {
    S14[Tid] = cell<short>(V0 + R);
    asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");
    V0 ^= fold(S14[Tid / 64u * 64u + (Tid + 26u) % 64u]);
    asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");
  }
  asm volatile("barrier.sync 1;" ::: "memory");
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run7(const unsigned *In) {
  Buffer<unsigned> Out(128);
  k7<<<1, 128, 512 * sizeof(unsigned)>>>(In, Out.Data);
  return finish(7, true, {Out.hash()});
}

// ---- kernel 8, 0 weaknesses ----
template <typename T>
__device__ __forceinline__ unsigned f8_2(T *P, unsigned V) {
  unsigned Old = fold(*P);
  if (V % 2u != 0u) {
    *P = cell<T>(Old + V);
  }
  return Old;
}

__device__ __noinline__ void meet8_3() {
  __syncthreads();
}

__device__ __forceinline__ unsigned f8_4(unsigned *P, unsigned *Q, unsigned V) {
  unsigned Old = fold(*P);
  *Q = cell<unsigned>(Old + V);
  Old += fold(*P);
  *P = cell<unsigned>(Old * 1u);
  return Old - fold(*Q);
}

__global__ void k8(const unsigned *__restrict__ In, unsigned *Out, unsigned *W1) {
  const unsigned Tid = threadIdx.y * 16u + threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 32u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 939u;
  unsigned V2 = In[(Gid * 3u + 569u) % 1024u] % 64u;
  unsigned V3 = Block + 74u;
  __syncthreads();
  V2 = (((V3 >> 7) | (V2 << 3)));
  V3 ^= f8_2(&W1[((Gid * 57u + 15u) % 64u) * 2u + (V3 + V2) % 2u], (min(V0, In[(V1 + 268u) % 1024u])));
  __syncthreads();
  V2 -= ((V0 >> 7) * (Warp + Tid));
  V1 += __shfl_xor_sync(~0u, V1, 13);
  W1[((Gid * 57u + 15u) % 64u) * 2u + (In[(V3 + 860u) % 1024u]) % 2u] = cell<unsigned>((min((Block - V0), (In[(V0 + 802u) % 1024u] >> 7))));
  V0 += __any_sync(~0u, Lane < 21u) ? 3u : 5u;
  meet8_3();
  V3 ^= fold(W1[((Gid * 57u + 15u) % 64u) * 2u + (In[(V1 + 327u) % 1024u]) % 2u]);
  if (Lane < 4u) {
    ((unsigned char *)&W1[((Gid * 57u + 15u) % 64u) * 2u + ((V2 >> 7)) % 2u])[In[(V0 + 695u) % 1024u] % 4u] = (unsigned char)(V1);
    V0 += __shfl_xor_sync(0xfu, V0, 2);
  }
  W1[((Gid * 57u + 15u) % 64u) * 2u + (V1) % 2u] -= V2;
  V0 += f8_4(&W1[((Gid * 57u + 15u) % 64u) * 2u + (In[(V2 + 99u) % 1024u] + V3) % 2u], &W1[((Gid * 57u + 15u) % 64u) * 2u + (V2) % 2u], In[(V3 + 939u) % 1024u]);
  asm volatile("barrier.sync 1;" ::: "memory");
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run8(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<unsigned> W1(128);
  k8<<<2, dim3(16, 2), 0>>>(In, Out.Data, W1.Data);
  return finish(8, false, {Out.hash(), W1.hash()});
}

// ---- kernel 9, 0 weaknesses ----
__global__ void k9(const unsigned *In, unsigned *Out, Wide *W4, double *G5All) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned *D1 = (unsigned *)Dynamic;
  const unsigned Tid = threadIdx.y * 16u + threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 96u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 861u;
  unsigned V2 = In[(Gid * 3u + 381u) % 1024u] % 64u;
  unsigned V3 = Block + 42u;
  double *G5 = G5All + (0u) * 32u;
  for (unsigned I = Tid; I < 96u; I += 96u) {
    D1[I] = cell<unsigned>(In[(I * 7u + 30u) % 1024u]); // keep
  }
  __syncthreads();
  unsigned *P2 = (unsigned *)D1;
  unsigned short *P3 = (unsigned short *)D1;
  for (unsigned I = 0; I < 1u; ++I) {
    P2[I * 96u + (Tid * 73u + 55u) % 96u] = (unsigned)(V0 + I);
  }
  __syncthreads();
  V1 += P3[V0 % 192u];
  __syncthreads();
  P3[(Tid * 71u + 47u) % 96u] = (unsigned short)V1;
  __syncthreads();
  V2 ^= fold(D1[V1 % 96u]);
  __syncthreads();
  for (unsigned I = Gid; I < 71u; I += 96u) {
    V0 += fold(W4[I]);
    if (Lane < 4u) {
      W4[I] = cell<Wide>(V0 + I);
    }
  }
  V3 ^= __syncthreads_or(V0 % 64u == 3u);
  for (unsigned R = 0; R < 4u; ++R) {
    if (Warp == R % 3u) {
      G5[(Lane * 29u + 29u) % 32u] = cell<double>(V0 + R);
      __syncwarp();
      V0 += fold(G5[(Lane + 19u) % 32u]);
    }
    __syncthreads();
  }
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run9(const unsigned *In) {
  Buffer<unsigned> Out(96);
  Buffer<Wide> W4(71);
  Buffer<double> G5(32);
  k9<<<1, dim3(16, 6), 96 * sizeof(unsigned)>>>(In, Out.Data, W4.Data, G5.Data);
  return finish(9, true, {Out.hash(), W4.hash(), G5.hash()});
}

// ---- kernel 10, 0 weaknesses ----
__global__ void k10(const unsigned *In, unsigned *Out, unsigned *G1All, Wide *G2All) {
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 32u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 601u;
  unsigned V2 = In[(Gid * 3u + 303u) % 1024u] % 64u;
  unsigned V3 = Block + 93u;
  unsigned *G1 = G1All + (Block % 2u) * 32u;
  Wide *G2 = G2All + (Block % 2u) * 32u;
  V3 ^= __syncthreads_or(V0 % 64u == 3u);
  V2 -= (((__umulhi(V2, V0)) | (min(V2, In[(V3 + 926u) % 1024u]))));
  const unsigned N4 = V2 % 4u;
  for (unsigned I3 = 0; I3 < N4; ++I3) {
    if ((V3 & 8u) != 0u) {
      V0 = I3 * 3u < V1 ? fold(G2[((Warp >> 7)) % 32u]) : Block;
      unsigned L5[4] = {I3, V3, Lane, V3};
      L5[V1 % 4u] += V3;
      V1 += L5[Gid % 4u];
    } else {
      unsigned I6 = 0u; // keep
      while (I6 < 4u && fold(G2[(V1) % 32u]) % 2u == 0u) {
        ++I6; // keep
      }
      V2 += I6;
    }
    V3 -= ((__umulhi(455u, 1410u)) * ((I3 | V1)));
    V2 = V2 * 5u + fold(G2[(V1) % 32u]);
  }
  V2 ^= (max((2u - V0), (8u >> 7)));
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run10(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<unsigned> G1(64);
  Buffer<Wide> G2(64);
  k10<<<2, 32, 0>>>(In, Out.Data, G1.Data, G2.Data);
  return finish(10, true, {Out.hash(), G1.hash(), G2.hash()});
}

// ---- kernel 11, 0 weaknesses ----
__global__ void k11(const unsigned *__restrict__ In, unsigned *Out, unsigned short *G1All, int *W3) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  double *D2 = (double *)Dynamic;
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 507u;
  unsigned V2 = In[(Gid * 3u + 588u) % 1024u] % 64u;
  unsigned V3 = Block + 7u;
  unsigned short *G1 = G1All + ((Block + 2u) % 4u) * 128u;
  for (unsigned I = Tid; I < 128u; I += 128u) {
    D2[I] = cell<double>(In[(I * 19u + 10u) % 1024u]); // keep
  }
  V3 ^= __syncthreads_or(V0 % 64u == 3u);
  for (unsigned R4 = 0; R4 < In[5] % 2u + 1u; ++R4) {
    if (V1 * 3u < V1) {
      if ((V1 % 2u < 1u) && fold(D2[((In[(V1 + 283u) % 1024u] >> 7)) % 128u]) % 2u == 1u) {
        for (unsigned I5 = 0; I5 < 6u; ++I5) {
          V1 += fold(D2[((V2 >> 7)) % 128u]);
        }
      } else {
        unsigned L6[8] = {Lane, V3, V3, 537u, V2, V2, Warp, 60u};
        L6[V0 % 8u] += In[(V3 + 461u) % 1024u];
        L6[V2 % 8u] = fold(W3[((Gid * 21u + 287u) % 512u) * 2u + (V1) % 2u]);
        V2 += L6[In[(V2 + 619u) % 1024u] % 8u];
      }
    }
    W3[((Gid * 21u + 287u) % 512u) * 2u + (In[(V2 + 1007u) % 1024u] + In[(V0 + 775u) % 1024u]) % 2u] = cell<int>(fold(W3[((Gid * 21u + 287u) % 512u) * 2u + (In[(V2 + 1007u) % 1024u] + In[(V0 + 775u) % 1024u]) % 2u]) + (__umulhi((__umulhi(4078u, V3)), (V3 >> 7))));
    __syncthreads();
  }
  for (unsigned R7 = 0; R7 < 2u; ++R7) {
    unsigned short *P8 = (V0 & 8u) != 0u ? &G1[(Tid * 37u + 94u) % 128u] : &G1[(Tid * 37u + 94u) % 128u];
    *P8 = cell<unsigned short>((((V0 ^ V2) & ((Block & Tid)))));
    V1 ^= fold(D2[(Tid * 111u + 67u) % 128u]);
    __syncthreads();
    int *P9 = V3 % 7u == 4u ? &W3[((Gid * 21u + 287u) % 512u) * 2u + (V1 + In[(V2 + 267u) % 1024u]) % 2u] : &W3[((Gid * 21u + 287u) % 512u) * 2u + (V2 + Tid) % 2u];
    V0 += fold(*P9);
    V3 -= ((((V2 | V0)) | 6u));
    __syncthreads();
  }
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run11(const unsigned *In) {
  Buffer<unsigned> Out(512);
  Buffer<unsigned short> G1(512);
  Buffer<int> W3(1024);
  k11<<<4, 128, 128 * sizeof(double)>>>(In, Out.Data, G1.Data, W3.Data);
  return finish(11, false, {Out.hash(), G1.hash(), W3.hash()});
}

// ---- kernel 12, 0 weaknesses ----
__device__ __noinline__ unsigned f12_6(unsigned long long *P, unsigned V) {
  *P = cell<unsigned long long>(V * 91u);
  return V + 1u;
}

__global__ void k12(const unsigned *In, unsigned *Out, int *G1All) {
  __shared__ int S2[128];
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned long long *D3 = (unsigned long long *)Dynamic;
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 64u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 383u;
  unsigned V2 = In[(Gid * 3u + 578u) % 1024u] % 64u;
  unsigned V3 = Block + 30u;
  int *G1 = G1All + (0u) * 64u;
  for (unsigned I = Tid; I < 128u; I += 64u) {
    S2[I] = cell<int>(In[(I * 57u + 57u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 64u; I += 64u) {
    D3[I] = cell<unsigned long long>(In[(I * 31u + 35u) % 1024u]); // keep
  }
  __syncthreads();
  unsigned L4[8] = {In[(V2 + 511u) % 1024u], V2, In[(V3 + 339u) % 1024u], V3, 0u, V2, V0, Warp};
  L4[V0 % 8u] += In[(V1 + 259u) % 1024u];
  V0 += L4[Warp % 8u];
  V2 += fold(S2[(Tid * 13u + 63u) % 64u + (3242u + Lane) % 2u * 64u]);
  V2 = V2 * 5u + fold(S2[(Tid * 13u + 63u) % 64u + (V2) % 2u * 64u]);
  V2 += 4289u;
  __syncthreads();
  unsigned L5[8] = {V1, Lane, 3u, V1, V0, V2, V1, 3556u};
  L5[In[(V1 + 95u) % 1024u] % 8u] += V1;
  L5[V0 % 8u] = fold(S2[((Tid * 57u + 1u) % 64u) * 2u + (V0 + Tid) % 2u]);
  V1 += L5[V0 % 8u];
  if (Tid == 5u) {
    V2 ^= f12_6(&D3[((V1 >> 6)) % 64u], Lane);
  }
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run12(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<int> G1(64);
  k12<<<1, 64, 64 * sizeof(unsigned long long)>>>(In, Out.Data, G1.Data);
  return finish(12, false, {Out.hash(), G1.hash()});
}

// ---- kernel 13, 0 weaknesses ----
__device__ __forceinline__ void meet13_1() {
  __syncthreads();
}

__device__ __forceinline__ void copy13_3(void *To, const void *From) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(To)), "l"(From) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ void k13(const unsigned *__restrict__ In, unsigned *Out, unsigned long long *W4, uint2 *W5, unsigned *W6, float4 *W8, unsigned *W9) {
  __shared__ float4 S2[32];
  __shared__ unsigned S7[1];
  __shared__ unsigned S10[1];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 32u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 91u;
  unsigned V2 = In[(Gid * 3u + 561u) % 1024u] % 64u;
  unsigned V3 = Block + 4u;
  for (unsigned I = Tid; I < 32u; I += 32u) {
    S2[I] = cell<float4>(In[(I * 45u + 13u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 1u; I += 32u) {
    S7[I] = cell<unsigned>(0u); // keep
  }
  for (unsigned I = Tid; I < 1u; I += 32u) {
    S10[I] = cell<unsigned>(0u); // keep
  }
  meet13_1();
  __syncthreads();
  copy13_3(&S2[Tid], &In[(Gid * 4u) % 1020u / 4u * 4u]);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  V0 += fold(S2[(Tid + 16u) % 32u]);
  V3 ^= __syncthreads_or(V0 % 64u == 3u);
  atomicAdd(&W4[V0 % 4u], (unsigned long long)V1);
  V0 ^= fold(atomicMax(&W4[V2 % 4u], 77ull));
  __syncthreads();
  W5[(Gid * 37u + 5u) % 64u] = cell<uint2>(V0 + Gid);
  __syncthreads();
  if (Tid == 0u) {
    __threadfence();
    unsigned Before = atomicAdd(&W6[0], 1u);
    __threadfence();
    unsigned Seen = Before == 1u;
    for (unsigned Try = 0; Try < 200u && Seen == 0u; ++Try) {
      unsigned Flag = atomicAdd(&W6[0], 0u);
      if (Flag >= 2u) {
        __threadfence();
        Seen = 1u;
      }
      if (Seen == 0u) {
        __nanosleep(20);
      }
    }
    S7[0] = Seen;
  }
  __syncthreads();
  if (S7[0] != 0u) {
    V2 += fold(W5[(Gid + 48u) % 64u]);
  }
  __syncthreads();
  if (Block == 1u) {
    W8[(Tid * 21u + 10u) % 32u] = cell<float4>(V0 + Tid);
    __syncthreads();
    if (Tid == 0u) {
      __nv_atomic_store_n(&W9[0], 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
  } else {
    unsigned Seen = 0u;
    for (unsigned Try = 0; Try < 200u && Seen == 0u; ++Try) {
      unsigned Flag = __nv_atomic_load_n(&W9[0], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
      if (Flag == 1u) {
        Seen = 1u;
      }
      if (Seen == 0u) {
        __nanosleep(20);
      }
    }
    if (Seen != 0u) {
      V1 += fold(W8[V1 % 32u]);
    }
  }
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run13(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<unsigned long long> W4(4);
  Buffer<uint2> W5(64);
  Buffer<unsigned> W6(1);
  Buffer<float4> W8(32);
  Buffer<unsigned> W9(4);
  k13<<<2, 32, 0>>>(In, Out.Data, W4.Data, W5.Data, W6.Data, W8.Data, W9.Data);
  return finish(13, false, {Out.hash(), W4.hash(), W5.hash(), W6.hash(), W8.hash(), W9.hash()});
}

// ---- kernel 14, 11 weaknesses ----
__device__ __forceinline__ unsigned f14_9(unsigned *P, unsigned V) {
  unsigned Old = fold(*P);
  if (V % 4u != 0u) {
    *P = cell<unsigned>(Old + V);
  }
  return Old;
}

__device__ __noinline__ unsigned f14_11(unsigned *P, unsigned V) {
  *P = cell<unsigned>(V * 67u);
  return V + 1u;
}

template <typename T>
static __device__ unsigned f14_14(T *P, unsigned V) {
  unsigned Old = fold(*P);
  if (V % 4u != 0u) {
    *P = cell<T>(Old + V);
  }
  return Old;
}

__global__ void k14(const unsigned *__restrict__ In, unsigned *Out) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned *D1 = (unsigned *)Dynamic;
  __shared__ unsigned long long S2[128];
  __shared__ double S3[128];
  const unsigned Tid = threadIdx.y * 16u + threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 553u;
  unsigned V2 = In[(Gid * 3u + 288u) % 1024u] % 64u;
  unsigned V3 = Block + 63u;
  for (unsigned I = Tid; I < 256u; I += 128u) {
    D1[I] = cell<unsigned>(In[(I * 25u + 3u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S2[I] = cell<unsigned long long>(In[(I * 3u + 89u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S3[I] = cell<double>(In[(I * 43u + 49u) % 1024u]); // keep
  }
  __syncthreads();
  if (Block % 2u == 1u) {
    S3[(Tid * 95u + 14u) % 128u] = cell<double>(~((V0 | V0)));
    for (unsigned I4 = 0; I4 < 4u; ++I4) {
      V3 += fold(S2[((1u >> 8)) % 128u]);
      __threadfence_block();
    }
    if (Gid % 7u == 3u) {
      if (V2 * 3u < V2) {
        V1 -= V0;
        V2 += ((min(V1, V0)) ^ Block);
      }
      S3[(Tid * 95u + 14u) % 128u] = cell<double>((~V1 - ((V0 & Gid))));
    }
    __threadfence_block();
  }
  for (unsigned R5 = 0; R5 < 3u; ++R5) {
    const unsigned N7 = V3 % 4u;
    for (unsigned I6 = 0; I6 < N7; ++I6) {
      D1[(Tid * 115u + 10u) % 128u + (V3 + 45u) % 2u * 128u] = cell<unsigned>(V3);
      unsigned L8[4] = {2919u, V3, I6, In[(V2 + 758u) % 1024u]};
      L8[V0 % 4u] += 4611u;
      L8[V2 % 4u] = fold(S2[(2844u + 2u) % 128u]);
      V3 += L8[I6 % 4u];
      *(volatile unsigned *)&D1[(Tid * 115u + 10u) % 128u + (V1 + 4u) % 2u * 128u] = cell<unsigned>(539u);
    }
    atomicAdd(&S3[(V2) % 128u], cell<double>(V0));
    D1[((Tid * 117u + 106u) % 128u) * 2u + ((Gid >> 2)) % 2u] = cell<unsigned>(((V0 ^ V1) + (min(V2, V0))));
    S3[Warp * 32u + (Lane * 29u + 13u) % 32u] = cell<double>((((Tid + 308u) & (57u ^ V1))));
    V3 += fold(S3[Warp * 32u + (Block + V1) % 32u]);
    __builtin_memset(&D1[((Tid * 117u + 106u) % 128u) * 2u + (V0) % 2u], 122, sizeof(unsigned));
    if ((V1 & 2u) != 0u) {
      switch (4984u % 4u) {
        case 0u: {
          S2[(Tid * 79u + 124u) % 128u] = cell<unsigned long long>(Tid);
          break;
        }
        case 1u: {
          V1 += V3;
          break;
        }
        default: {
          V1 ^= f14_9(&D1[((Tid + V2 % 2u) % 128u) * 2u + (V0) % 2u], (max(Gid, V1)));
        }
      }
      unsigned I10 = 0u; // keep
      do {
        V2 ^= (V0 * V2);
        ++I10; // keep
      } while (I10 < 3u && fold(S2[(Tid / 2u)]) % 2u == 1u);
      V2 += I10;
    } else {
      V3 ^= f14_11(&D1[((Tid / 2u)) * 2u + ((2587u >> 8)) % 2u], (Tid ^ V2));
      if ((Gid & 1u) != 0u) {
        D1[((Tid * 117u + 106u) % 128u) * 2u + ((V0 >> 2)) % 2u] += V1;
      } else {
        const unsigned N13 = V3 % 4u;
        for (unsigned I12 = 0; I12 < N13; ++I12) {
          D1[((Tid * 117u + 106u) % 128u) * 2u + (V1 + I12) % 2u] = cell<unsigned>((Gid - (Lane + V2)));
          V1 ^= fold(S2[(Tid * 79u + 124u) % 128u]);
          V1 ^= f14_14(&D1[((Tid * 117u + 106u) % 128u) * 2u + (Block) % 2u], In[(V0 + 808u) % 1024u]);
        }
      }
    }
    D1[((Tid * 117u + 106u) % 128u) * 2u + (V3) % 2u] -= In[(V1 + 763u) % 1024u];
    __threadfence_block();
  }
  if (Warp == 1u) {
    Out[Gid] = V0; // keep
    return;
  }
  ((unsigned char *)&S2[(Tid * 91u + 51u) % 128u])[Lane % 8u] = (unsigned char)(V3);
  ((unsigned char *)&S2[((Tid * 91u + 51u) % 128u + 1u) % 128u])[V0 % 8u] = (unsigned char)(Warp);
  V2 = V2 * 3u < Lane ? fold(S2[(Tid * 91u + 51u) % 128u]) : V1;
  unsigned long long C15 = cell<unsigned long long>(In[(V2 + 190u) % 1024u]);
  __builtin_memcpy(&S2[(Tid + V2 % 2u) % 128u], &C15, sizeof(C15));
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run14(const unsigned *In) {
  Buffer<unsigned> Out(384);
  k14<<<3, dim3(16, 8), 256 * sizeof(unsigned)>>>(In, Out.Data);
  return finish(14, false, {Out.hash()});
}

// ---- kernel 15, 0 weaknesses ----
__global__ void k15(const unsigned *__restrict__ In, unsigned *Out, Cell *G2All, short *G4All, unsigned *G5All) {
  __shared__ unsigned char S1[512];
  __shared__ uint2 S3[128];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 985u;
  unsigned V2 = In[(Gid * 3u + 782u) % 1024u] % 64u;
  unsigned V3 = Block + 64u;
  Cell *G2 = G2All + ((Block + 1u) % 4u) * 128u;
  short *G4 = G4All + ((Block + 2u) % 4u) * 32u;
  unsigned *G5 = G5All + ((Block + 1u) % 4u) * 1u;
  for (unsigned I = Tid; I < 512u; I += 128u) {
    S1[I] = cell<unsigned char>(In[(I * 53u + 8u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S3[I] = cell<uint2>(In[(I * 37u + 69u) % 1024u]); // keep
  }
  V3 += __syncthreads_count(V0 % 2u);
  S3[Tid] = cell<uint2>(890u);
  __syncthreads();
  for (unsigned Step = 1u; Step < 128u; Step *= 2u) {
    unsigned Left = Tid >= Step ? fold(S3[Tid - Step]) : 0u;
    __syncthreads();
    if (Tid >= Step) {
      S3[Tid] = cell<uint2>(fold(S3[Tid]) + Left);
    }
    __syncthreads();
  }
  V1 ^= fold(S3[Tid]);
  __syncthreads();
  if (Warp == 0u) {
    G4[(Lane * 11u + 25u) % 32u] = cell<short>(V0 + Lane);
    __syncwarp();
    if (Lane == 14u) {
      __threadfence_system();
      *(volatile unsigned *)(&G5[0]) = 7u;
    }
  } else {
    unsigned Seen = 0u;
    for (unsigned Try = 0; Try < 200u && Seen == 0u; ++Try) {
      unsigned Flag = *(volatile unsigned *)(&G5[0]);
      if (Flag == 7u) {
        __threadfence_system();
        Seen = 1u;
      }
      if (Seen == 0u) {
        __nanosleep(20);
      }
    }
    if (Seen != 0u) {
      V3 += fold(G4[232u % 32u]);
    }
  }
  __syncthreads();
  if (blockDim.x > 1u) {
    V2 += ~(V3 ^ V3);
    V1 += __reduce_add_sync(~0u, V1);
    if (Tid % 2u == 1u) {
      G2[((Tid / 2u) * 41u + 59u) % 64u + ((V3 >> 4)) % 2u * 64u] = cell<Cell>(fold(G2[((Tid / 2u) * 41u + 59u) % 64u + ((V3 >> 4)) % 2u * 64u]) + (__umulhi((__umulhi(V2, Lane)), (V0 ^ V1))));
      const unsigned N7 = V1 % 4u;
      for (unsigned I6 = 0; I6 < N7; ++I6) {
        unsigned L8[2] = {Lane, 2272u};
        L8[V1 % 2u] += Lane;
        V3 += L8[Gid % 2u];
        V3 ^= fold(G2[((Tid / 2u) * 41u + 59u) % 64u + (I6 + 43u) % 2u * 64u]);
        G2[((Tid / 2u) * 41u + 59u) % 64u + ((V0 >> 7)) % 2u * 64u] = cell<Cell>(V2);
      }
      G2[((Tid / 2u) * 41u + 59u) % 64u + (V0 + V0) % 2u * 64u] = cell<Cell>(fold(G2[((Tid / 2u) * 41u + 59u) % 64u + (V0 + V0) % 2u * 64u]) + (Warp << 3));
    }
    V3 += __syncthreads_count(V0 % 2u);
  }
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run15(const unsigned *In) {
  Buffer<unsigned> Out(512);
  Buffer<Cell> G2(512);
  Buffer<short> G4(128);
  Buffer<unsigned> G5(4);
  k15<<<4, 128, 0>>>(In, Out.Data, G2.Data, G4.Data, G5.Data);
  return finish(15, false, {Out.hash(), G2.hash(), G4.hash(), G5.hash()});
}

// ---- kernel 16, 2 weaknesses ----
__device__ __noinline__ unsigned f16_3(unsigned char *P, unsigned V) {
  *P = cell<unsigned char>(V * 77u);
  return V + 1u;
}

__global__ void k16(const unsigned *In, unsigned *Out) {
  __shared__ unsigned S1[64];
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned char *D2 = (unsigned char *)Dynamic;
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 64u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 891u;
  unsigned V2 = In[(Gid * 3u + 1018u) % 1024u] % 64u;
  unsigned V3 = Block + 67u;
  for (unsigned I = Tid; I < 64u; I += 64u) {
    S1[I] = cell<unsigned>(In[(I * 35u + 67u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 64u; I += 64u) {
    D2[I] = cell<unsigned char>(In[(I * 37u + 61u) % 1024u]); // keep
  }
  if (Warp == 1u) {
    Out[Gid] = V0; // keep
    return;
  }
  V1 = (unsigned)__clz((Lane ^ V1));
  if (Lane < 16u) {
    if (Tid == 19u) {
      V2 ^= f16_3(&D2[(V2 + 3u) % 64u], V2);
    }
    V3 += __shfl_xor_sync(0xffffu, V3, 8);
  }
  __threadfence_block();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run16(const unsigned *In) {
  Buffer<unsigned> Out(64);
  k16<<<1, 64, 64 * sizeof(unsigned char)>>>(In, Out.Data);
  return finish(16, false, {Out.hash()});
}

// ---- kernel 17, 1 weaknesses ----
__device__ __noinline__ void meet17_4() {
  __syncthreads();
}

__global__ void k17(const unsigned *In, unsigned *Out, unsigned *G3All) {
  __shared__ unsigned S1[64];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 64u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 495u;
  unsigned V2 = In[(Gid * 3u + 232u) % 1024u] % 64u;
  unsigned V3 = Block + 15u;
  unsigned *G3 = G3All + (Block * 2u % 3u) * 128u;
  for (unsigned I = Tid; I < 64u; I += 64u) {
    S1[I] = cell<unsigned>(In[(I * 49u + 28u) % 1024u]); // keep
  }
  __syncthreads();
  V2 = V2 * 5u + fold(S1[(Tid * 11u + 52u) % 64u]);
  unsigned I2 = 0u; // keep
  while (I2 < 4u && fold(S1[(Tid * 11u + 52u) % 64u]) % 3u != 0u) {
    ++I2; // keep
  }
  V2 += I2;
  S1[(Tid * 11u + 52u) % 64u] = cell<unsigned>(((max(3884u, Gid)) ^ (V0 * V2)));
  S1[(Tid * 11u + 52u) % 64u] = cell<unsigned>(fold(S1[(Tid * 11u + 52u) % 64u]) + V2);
  V3 -= (__umulhi((__umulhi(V0, V3)), ((4u & Block))));
  for (unsigned R = 0; R < 3u; ++R) {
    G3[R % 2u * 64u + Tid] = cell<unsigned>(V0 ^ R);
    __syncthreads();
    V0 += fold(G3[R % 2u * 64u + (Tid + 60u) % 64u]);
  }
  meet17_4();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run17(const unsigned *In) {
  Buffer<unsigned> Out(192);
  Buffer<unsigned> G3(384);
  k17<<<3, 64, 0>>>(In, Out.Data, G3.Data);
  return finish(17, false, {Out.hash(), G3.hash()});
}

// ---- kernel 18, 2 weaknesses ----
__global__ void k18(const unsigned *__restrict__ In, unsigned *Out, short *G1All, unsigned *G2All) {
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 873u;
  unsigned V2 = In[(Gid * 3u + 584u) % 1024u] % 64u;
  unsigned V3 = Block + 34u;
  short *G1 = G1All + (0u) * 128u;
  unsigned *G2 = G2All + (0u) * 128u;
  for (unsigned R = 0; R < 3u; ++R) {
    G1[Tid] = cell<short>(V0 + R);
    asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");
    V0 ^= fold(G1[Tid / 64u * 64u + (Tid + 28u) % 64u]);
    asm volatile("barrier.sync %0, 64;" ::"r"(4u + Warp / 2u) : "memory");
  }
  __syncthreads();
  G2[Tid] = cell<unsigned>(V1);
  __syncthreads();
  for (unsigned Step = 1u; Step < 128u; Step *= 2u) {
    unsigned Left = Tid >= Step ? fold(G2[Tid - Step]) : 0u;
    __syncthreads();
    if (Tid >= Step) {
      G2[Tid] = cell<unsigned>(fold(G2[Tid]) + Left);
    }
    __syncthreads();
  }
  V1 ^= fold(G2[Tid]);
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run18(const unsigned *In) {
  Buffer<unsigned> Out(128);
  Buffer<short> G1(128);
  Buffer<unsigned> G2(128);
  k18<<<1, 128, 0>>>(In, Out.Data, G1.Data, G2.Data);
  return finish(18, false, {Out.hash(), G1.hash(), G2.hash()});
}

// ---- kernel 19, 2 weaknesses ----
__device__ __noinline__ void meet19_4() {
  __syncthreads();
}

__global__ void k19(const unsigned *In, unsigned *Out, Cell *G1All, unsigned *G5All, short *G6All) {
  __shared__ float S7[128];
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 128u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 333u;
  unsigned V2 = In[(Gid * 3u + 458u) % 1024u] % 64u;
  unsigned V3 = Block + 0u;
  Cell *G1 = G1All + (0u) * 512u;
  unsigned *G5 = G5All + (0u) * 16u;
  short *G6 = G6All + (0u) * 16u;
  for (unsigned I = Tid; I < 128u; I += 128u) {
    S7[I] = cell<float>(In[(I * 43u + 7u) % 1024u]); // keep
  }
  __syncthreads();
  for (unsigned R2 = 0; R2 < 3u; ++R2) {
    V2 = ((min(V1, V3)) + V1);
    V0 ^= V3;
    V1 -= ((unsigned)__clz(4u) + V2);
    V1 -= ((V2 << 3) ^ (In[(V0 + 433u) % 1024u] - 6u));
    V1 += V2;
  }
  V2 = ((V2 - Gid) * (V3 - V3));
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  meet19_4();
  const unsigned AtG5 = (((V1 * In[(V2 + 954u) % 1024u]) - (max(48u, Warp)))) % 16u;
  if (atomicCAS(&G5[AtG5], 0u, Tid + 1u) == 0u) {
    G6[AtG5] = cell<short>(V0 + Tid);
  }
  __syncthreads();
  V0 += fold(G6[V1 % 16u]);
  S7[Tid] = cell<float>(Lane);
  __syncthreads();
  for (unsigned Half = 64u; Half > 0u; Half /= 2u) {
    if (Tid < Half) {
      S7[Tid] = cell<float>(fold(S7[Tid]) + fold(S7[Tid + Half]));
    }
    __syncthreads();
  }
  V0 += fold(S7[0]);
  asm volatile("barrier.sync 1;" ::: "memory");
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run19(const unsigned *In) {
  Buffer<unsigned> Out(128);
  Buffer<Cell> G1(512);
  Buffer<unsigned> G5(16);
  Buffer<short> G6(16);
  k19<<<1, 128, 0>>>(In, Out.Data, G1.Data, G5.Data, G6.Data);
  return finish(19, false, {Out.hash(), G1.hash(), G5.hash(), G6.hash()});
}

// ---- kernel 20, 6 weaknesses ----
template <typename T>
static __device__ unsigned f20_7(T *P, unsigned V) {
  unsigned Old = fold(*P);
  if (V % 2u != 0u) {
    *P = cell<T>(Old + V);
  }
  return Old;
}

template <typename T>
static __device__ unsigned f20_8(T *P, unsigned V) {
  unsigned Old = fold(*P);
  if (V % 2u != 0u) {
    *P = cell<T>(Old + V);
  }
  return Old;
}

__device__ __forceinline__ unsigned f20_12(short *P, unsigned V) {
  return fold(*P) + V;
}

__global__ void k20(const unsigned *In, unsigned *Out, float4 *G1All, int *G2All, short *W3) {
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 64u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 723u;
  unsigned V2 = In[(Gid * 3u + 109u) % 1024u] % 64u;
  unsigned V3 = Block + 78u;
  float4 *G1 = G1All + ((Block * 3u + 1u) % 4u) * 64u;
  int *G2 = G2All + ((Block * 3u + 1u) % 4u) * 128u;
  __threadfence_block();
  for (unsigned R4 = 0; R4 < 2u; ++R4) {
    V3 += V1;
    V2 += __ballot_sync(~0u, (V2 & 4u) != 0u);
    const unsigned N6 = V0 % 4u;
    for (unsigned I5 = 0; I5 < N6; ++I5) {
      if (I5 % 6u > 4u) {
        continue;
      }
      G2[(Tid * 53u + 31u) % 64u + ((V3 >> 6)) % 2u * 64u] = cell<int>((min(V0, (max(V3, 8u)))));
      V0 ^= f20_7(&G2[(Tid * 53u + 31u) % 64u + (Gid + 0u) % 2u * 64u], (max(Gid, Warp)));
      G1[(Tid * 47u + 45u) % 64u] = cell<float4>(V2);
    }
    V3 ^= f20_8(&W3[(Gid * 233u + 250u) % 256u + (In[(V3 + 126u) % 1024u]) % 2u * 256u], V3);
    V1 += __any_sync(~0u, Gid * 3u < In[(V2 + 508u) % 1024u]) ? 3u : 5u;
    if (Tid % 4u == 0u) {
      V0 = V0 * 5u + fold(G1[((Tid / 4u) * 13u + 6u) % 16u + (Gid + Warp) % 4u * 16u]);
      W3[(Gid + V2 % 2u) % 256u + ((42u >> 4)) % 2u * 256u] = cell<short>((__umulhi(V2, ((0u | V3)))));
      V1 += V2;
    }
    W3[(Gid * 233u + 250u) % 256u + ((2007u >> 0)) % 2u * 256u] ^= V3;
    G2[(V3) % 128u] = cell<int>(V3);
    unsigned L9[4] = {V3, V0, 7u, Block};
    L9[V3 % 4u] += V2;
    V3 += L9[V3 % 4u];
  }
  __builtin_memset(&W3[(Gid * 233u + 250u) % 256u + (2u) % 2u * 256u], 125, sizeof(short));
  __builtin_memset(&G1[(Tid * 47u + 21u) % 64u], 42, sizeof(float4));
  for (unsigned I10 = 0; I10 < 3u; ++I10) {
    short C11 = cell<short>(40u);
    __builtin_memcpy(&C11, &W3[(Gid * 233u + 250u) % 256u + (V1) % 2u * 256u], sizeof(C11));
    V2 ^= fold(C11) % 4096u;
    V0 ^= f20_12(&W3[(Gid * 233u + 250u) % 256u + (Gid + Block) % 2u * 256u], (V0 - V3));
  }
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run20(const unsigned *In) {
  Buffer<unsigned> Out(256);
  Buffer<float4> G1(256);
  Buffer<int> G2(512);
  Buffer<short> W3(512);
  k20<<<4, 64, 0>>>(In, Out.Data, G1.Data, G2.Data, W3.Data);
  return finish(20, false, {Out.hash(), G1.hash(), G2.hash(), W3.hash()});
}

// ---- kernel 21, 0 weaknesses ----
__global__ void k21(const unsigned *In, unsigned *Out, uint2 *G2All, int *G3All) {
  __shared__ Wide S1[64];
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned *D4 = (unsigned *)Dynamic;
  const unsigned Tid = threadIdx.y * 16u + threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 64u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 637u;
  unsigned V2 = In[(Gid * 3u + 856u) % 1024u] % 64u;
  unsigned V3 = Block + 78u;
  uint2 *G2 = G2All + ((Block * 2u + 1u) % 3u) * 64u;
  int *G3 = G3All + ((Block + 1u) % 3u) * 64u;
  for (unsigned I = Tid; I < 64u; I += 64u) {
    S1[I] = cell<Wide>(In[(I * 29u + 41u) % 1024u]); // keep
  }
  for (unsigned I = Tid; I < 64u; I += 64u) {
    D4[I] = cell<unsigned>(In[(I * 21u + 62u) % 1024u]); // keep
  }
  asm volatile("barrier.sync 1;" ::: "memory");
  D4[Tid] = cell<unsigned>((__umulhi((max(Block, Warp)), ((In[(V0 + 797u) % 1024u] | In[(V2 + 547u) % 1024u])))));
  __syncthreads();
  for (unsigned Half = 32u; Half > 0u; Half /= 2u) {
    if (Tid < Half) {
      D4[Tid] = cell<unsigned>(fold(D4[Tid]) + fold(D4[Tid + Half]));
    }
    __syncthreads();
  }
  V0 += fold(D4[0]);
  __syncthreads();
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run21(const unsigned *In) {
  Buffer<unsigned> Out(192);
  Buffer<uint2> G2(192);
  Buffer<int> G3(192);
  k21<<<3, dim3(16, 4), 64 * sizeof(unsigned)>>>(In, Out.Data, G2.Data, G3.Data);
  return finish(21, true, {Out.hash(), G2.hash(), G3.hash()});
}

// ---- kernel 22, 0 weaknesses ----
__global__ void k22(const unsigned *In, unsigned *Out, short *G2All, unsigned char *W3) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  float4 *D1 = (float4 *)Dynamic;
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 32u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 51u;
  unsigned V2 = In[(Gid * 3u + 76u) % 1024u] % 64u;
  unsigned V3 = Block + 48u;
  short *G2 = G2All + ((Block + 1u) % 2u) * 32u;
  for (unsigned I = Tid; I < 32u; I += 32u) {
    D1[I] = cell<float4>(In[(I * 15u + 42u) % 1024u]); // keep
  }
  V3 += __syncthreads_count(V0 % 2u);
  __syncwarp();
  for (unsigned I4 = 0; I4 < 4u; ++I4) {
    V3 += (max(V0, ((38u | Lane))));
  }
  W3[(Gid + 55u) % 64u] = cell<unsigned char>(V2);
  V3 ^= __syncthreads_or(V0 % 64u == 3u);
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run22(const unsigned *In) {
  Buffer<unsigned> Out(64);
  Buffer<short> G2(64);
  Buffer<unsigned char> W3(64);
  k22<<<2, 32, 32 * sizeof(float4)>>>(In, Out.Data, G2.Data, W3.Data);
  return finish(22, false, {Out.hash(), G2.hash(), W3.hash()});
}

// ---- kernel 23, 0 weaknesses ----
__global__ void k23(const unsigned *In, unsigned *Out, int *W1) {
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 64u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 791u;
  unsigned V2 = In[(Gid * 3u + 549u) % 1024u] % 64u;
  unsigned V3 = Block + 58u;
  __syncthreads();
  for (unsigned R2 = 0; R2 < 2u; ++R2) {
    W1[(Gid * 35u + 73u) % 128u] = cell<int>((V1 * V2));
    W1[(Gid * 35u + 73u) % 128u] = cell<int>(fold(W1[(Gid * 35u + 73u) % 128u]) + (V2 ^ __brev(V2)));
    __syncthreads();
  }
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run23(const unsigned *In) {
  Buffer<unsigned> Out(128);
  Buffer<int> W1(128);
  k23<<<2, 64, 0>>>(In, Out.Data, W1.Data);
  return finish(23, true, {Out.hash(), W1.hash()});
}

// ---- kernel 24, 1 weaknesses ----
__global__ void k24(const unsigned *__restrict__ In, unsigned *Out) {
  extern __shared__ __align__(16) unsigned char Dynamic[];
  unsigned char *D1 = (unsigned char *)Dynamic;
  const unsigned Tid = threadIdx.x;
  const unsigned Lane = Tid % 32u;
  const unsigned Warp = Tid / 32u;
  const unsigned Block = blockIdx.x;
  const unsigned Gid = Block * 96u + Tid;
  unsigned V0 = In[Gid % 1024u];
  unsigned V1 = Tid * 517u;
  unsigned V2 = In[(Gid * 3u + 644u) % 1024u] % 64u;
  unsigned V3 = Block + 64u;
  for (unsigned I = Tid; I < 192u; I += 96u) {
    D1[I] = cell<unsigned char>(In[(I * 49u + 6u) % 1024u]); // keep
  }
  __syncthreads();
  if (blockDim.x > 1u) {
    V2 -= ((((V3 | V2)) | (__umulhi(3538u, Tid))));
    V0 = V0 * 5u + fold(D1[((37u >> 1)) % 192u]);
    V2 += fold(D1[(V0 + V2) % 192u]);
    for (unsigned I2 = 0; I2 < Tid % 3u + 1u; ++I2) {
      if (V0 * 3u < V1) {
        continue;
      }
      if ((V1 & 16u) != 0u) {
        V1 ^= fold(D1[(I2 + I2) % 192u]);
      } else {
        V2 = (V1 % 3u == 2u) && fold(D1[(V1 + 4u) % 192u]) % 3u == 2u ? fold(D1[((Tid >> 1)) % 192u]) : 3u;
      }
      V1 = (I2 & 16u) != 0u ? fold(D1[((Tid >> 5)) % 192u]) : Tid;
      V2 += V0;
    }
    if (V3 * 3u < Warp) {
      V1 -= ((V0 * V3) ^ ((V1 | In[(V1 + 685u) % 1024u])));
    } else {
      unsigned L3[8] = {V3, V1, 40u, 6u, V1, V3, In[(V0 + 333u) % 1024u], V1};
      L3[V0 % 8u] += V1;
      L3[V0 % 8u] = fold(D1[(1u + V3) % 192u]);
      V3 += L3[V3 % 8u];
      unsigned I4 = 0u; // keep
      do {
        V1 += ((805u + V2) + In[(V1 + 257u) % 1024u]);
        ++I4; // keep
      } while (I4 < 3u && fold(D1[(122u + V2) % 192u]) % 5u == 1u);
      V2 += I4;
    }
    __syncthreads();
  }
  switch (In[(V2 + 46u) % 1024u] % 4u) {
    case 0u: {
      V2 = ((V2 * 2u) * ~Warp);
      break;
    }
    case 1u: {
      V1 -= (min(V1, ((3346u & 4u))));
      break;
    }
    case 2u: {
      if (Tid % 8u == 1u) {
        D1[((Tid / 8u) * 11u + 4u) % 12u + (V2 + V2) % 16u * 12u] = cell<unsigned char>(__byte_perm(Tid, V0, 0x1203));
      }
      break;
    }
    default: {
      V0 ^= V0;
    }
  }
  V2 ^= (((min(In[(V1 + 701u) % 1024u], In[(V0 + 22u) % 1024u])) & (min(V2, 17u))));
  __threadfence();
  if (In[Block * 7u + 409u] % 3u != 0u) {
    V2 = V2 * 5u + fold(D1[((15u >> 4)) % 96u * 2u + 1u]);
    V3 += __reduce_add_sync(~0u, V1);
    V3 ^= __syncthreads_or(V0 % 64u == 3u);
  }
  Out[Gid] = V0 ^ V1 * 3u ^ V2 * 5u ^ V3 * 7u; // keep
}

static bool run24(const unsigned *In) {
  Buffer<unsigned> Out(96);
  k24<<<1, 96, 192 * sizeof(unsigned char)>>>(In, Out.Data);
  return finish(24, false, {Out.hash()});
}

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
  if (First <= 0u && 0u <= Last)
    run0(In);
  if (First <= 1u && 1u <= Last)
    run1(In);
  if (First <= 2u && 2u <= Last)
    run2(In);
  if (First <= 3u && 3u <= Last)
    run3(In);
  if (First <= 4u && 4u <= Last)
    run4(In);
  if (First <= 5u && 5u <= Last)
    run5(In);
  if (First <= 6u && 6u <= Last)
    run6(In);
  if (First <= 7u && 7u <= Last)
    run7(In);
  if (First <= 8u && 8u <= Last)
    run8(In);
  if (First <= 9u && 9u <= Last)
    run9(In);
  if (First <= 10u && 10u <= Last)
    run10(In);
  if (First <= 11u && 11u <= Last)
    run11(In);
  if (First <= 12u && 12u <= Last)
    run12(In);
  if (First <= 13u && 13u <= Last)
    run13(In);
  if (First <= 14u && 14u <= Last)
    run14(In);
  if (First <= 15u && 15u <= Last)
    run15(In);
  if (First <= 16u && 16u <= Last)
    run16(In);
  if (First <= 17u && 17u <= Last)
    run17(In);
  if (First <= 18u && 18u <= Last)
    run18(In);
  if (First <= 19u && 19u <= Last)
    run19(In);
  if (First <= 20u && 20u <= Last)
    run20(In);
  if (First <= 21u && 21u <= Last)
    run21(In);
  if (First <= 22u && 22u <= Last)
    run22(In);
  if (First <= 23u && 23u <= Last)
    run23(In);
  if (First <= 24u && 24u <= Last)
    run24(In);
  std::puts("DONE");
}
