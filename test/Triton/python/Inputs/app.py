# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of Triton's: app.py NAME... runs them; those whose names end in _racy race.

Lines of a race end in "# RACE". Inputs come from the CPU and results go there, so that no
kernels but Triton's run.
"""
import sys

import torch
import triton
import triton.language as tl

torch.manual_seed(1)


@triton.jit
def vector_add_kernel(X, Y, Out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(Out + at, tl.load(X + at, mask=inside) + tl.load(Y + at, mask=inside), mask=inside)


@triton.jit
def softmax_kernel(X, Out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(X + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(Out + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def layer_norm_kernel(X, W, B, Out, Mean, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(X + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    d = tl.where(inside, x - mean, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    tl.store(Mean + row, mean)
    y = d * r * tl.load(W + at, mask=inside) + tl.load(B + at, mask=inside)
    tl.store(Out + row * columns + at, y, mask=inside)


@triton.jit
def matmul_kernel(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        a = tl.load(A + m[:, None] * K + (at + k)[None, :])
        b = tl.load(B + (at + k)[:, None] * N + n[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(C + m[:, None] * N + n[None, :], sums)


@triton.jit
def reduction_kernel(X, Out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(Out, tl.sum(tl.load(X + at, mask=at < n, other=0.0), axis=0))


@triton.jit
def histogram_kernel(X, Out, BLOCK: tl.constexpr):
    x = tl.load(X + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(Out + x, 1)


@triton.jit
def scan_kernel(X, Out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(Out + at, tl.cumsum(tl.load(X + at), axis=0))


@triton.jit
def transpose_kernel(X, Out, M, N, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(X + m[:, None] * N + n[None, :])
    tl.store(Out + n[:, None] * M + m[None, :], tl.trans(x))


@triton.jit
def locked_sum_kernel(X, Out, Lock, Count, IS_ORDERED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    part = tl.load(X + tl.program_id(0) * BLOCK + at)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    # Every thread loads the count, and one stores it.
    count = tl.load(Count)  # RACE
    if IS_ORDERED:
        tl.debug_barrier()
    if count == 0:
        tl.atomic_xchg(Count, 1)  # RACE
    else:
        part += tl.load(Out + at)
    tl.store(Out + at, part)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def one_place_kernel(Out, rounds):
    for i in range(rounds):
        tl.store(Out, tl.program_id(0) * rounds + i)  # RACE


@triton.jit
def plain_add_kernel(X, Out, rounds):
    for i in range(rounds):
        old = tl.load(Out)  # RACE
        tl.store(Out, old + tl.load(X + tl.program_id(0)))  # RACE


@triton.jit
def plain_histogram_kernel(X, Out, rounds, BLOCK: tl.constexpr):
    x = tl.load(X + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    for i in range(rounds):
        old = tl.load(Out + x)  # RACE
        tl.store(Out + x, old + 1)  # RACE


@triton.jit
def unlocked_sum_kernel(X, Out, rounds, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    part = tl.load(X + tl.program_id(0) * BLOCK + at)
    for i in range(rounds):
        part += tl.load(Out + at)  # RACE
        tl.store(Out + at, part)  # RACE


def gpu(x):
    return x.cuda()


def same(got, want, tolerance=1e-3):
    torch.testing.assert_close(got.cpu(), want, rtol=tolerance, atol=tolerance)


def vector_add():
    n = 100_003
    x, y, out = torch.randn(n), torch.randn(n), gpu(torch.zeros(n))
    vector_add_kernel[(triton.cdiv(n, 1024),)](gpu(x), gpu(y), out, n, BLOCK=1024)
    same(out, x + y)


def softmax():
    x = torch.randn(200, 781)
    out = gpu(torch.zeros_like(x))
    softmax_kernel[(200,)](gpu(x), out, 781, BLOCK=1024)
    same(out, torch.softmax(x, 1))


def layer_norm():
    x, w, b = torch.randn(100, 1000), torch.randn(1000), torch.randn(1000)
    out, mean = gpu(torch.zeros_like(x)), gpu(torch.zeros(100))
    layer_norm_kernel[(100,)](gpu(x), gpu(w), gpu(b), out, mean, 1000, 1e-5, BLOCK=1024, num_warps=8)
    same(out, torch.nn.functional.layer_norm(x, (1000,), w, b, 1e-5))
    same(mean, x.mean(1))


def product(block, warps, stages):
    M, N, K = 256, 128, 192
    a, b = torch.randn(M, K).half(), torch.randn(K, N).half()
    c = gpu(torch.zeros(M, N))
    compiled = matmul_kernel[(M // block, N // block)](
        gpu(a), gpu(b), c, M, N, K, BM=block, BN=block, BK=block, num_warps=warps, num_stages=stages)
    same(c, a.float() @ b.float(), 1e-2)
    ptx = compiled.asm["ptx"]
    print("PTX has", *(w for w in ("mma.sync", "wgmma", "cp.async", "ldmatrix", "mbarrier") if w in ptx))


def matmul():
    product(32, 2, 1)


def matmul_stages():
    product(32, 2, 3)


def matmul_wgmma():
    product(64, 4, 3)


def reduction():
    x = torch.randint(0, 9, (50_000,)).float()
    out = gpu(torch.zeros(1))
    reduction_kernel[(triton.cdiv(50_000, 512),)](gpu(x), out, 50_000, BLOCK=512)
    same(out, x.sum().reshape(1))


def histogram():
    x, out = torch.randint(0, 64, (32 * 1024,), dtype=torch.int32), gpu(torch.zeros(64, dtype=torch.int32))
    histogram_kernel[(32,)](gpu(x), out, BLOCK=1024)
    same(out, torch.bincount(x, minlength=64).int())


def scan():
    x = torch.randint(0, 9, (20, 2048), dtype=torch.int32)
    out = gpu(torch.zeros_like(x))
    scan_kernel[(20,)](gpu(x), out, BLOCK=2048)
    same(out, torch.cumsum(x, 1).int())


def transpose():
    x = torch.randn(256, 128)
    out = gpu(torch.zeros(128, 256))
    transpose_kernel[(8, 4)](gpu(x), out, 256, 128, B=32)
    same(out, x.T.contiguous())


def locked_sum():
    x = torch.randint(0, 9, (64, 256)).float()
    out, lock, count = gpu(torch.zeros(256)), gpu(torch.zeros(1, dtype=torch.int32)), gpu(torch.zeros(1, dtype=torch.int32))
    locked_sum_kernel[(64,)](gpu(x), out, lock, count, IS_ORDERED=True, BLOCK=256)
    same(out, x.sum(0))


def uncounted_sum_racy():
    x, out = torch.ones(64, 256), gpu(torch.zeros(256))
    lock, count = gpu(torch.zeros(1, dtype=torch.int32)), gpu(torch.zeros(1, dtype=torch.int32))
    locked_sum_kernel[(64,)](gpu(x), out, lock, count, IS_ORDERED=False, BLOCK=256)


def one_place_racy():
    one_place_kernel[(64,)](gpu(torch.zeros(1, dtype=torch.int32)), 200)


def plain_add_racy():
    plain_add_kernel[(64,)](gpu(torch.ones(64)), gpu(torch.zeros(1)), 200)


def plain_histogram_racy():
    x = torch.randint(0, 64, (32 * 1024,), dtype=torch.int32)
    plain_histogram_kernel[(32,)](gpu(x), gpu(torch.zeros(64, dtype=torch.int32)), 50, BLOCK=1024)


def unlocked_sum_racy():
    unlocked_sum_kernel[(64,)](gpu(torch.ones(64 * 256)), gpu(torch.zeros(256)), 100, BLOCK=256)


NAMES = ["vector_add", "softmax", "layer_norm", "matmul", "matmul_stages", "matmul_wgmma", "reduction",
         "histogram", "scan", "transpose", "locked_sum",
         "uncounted_sum_racy", "one_place_racy", "plain_add_racy", "plain_histogram_racy", "unlocked_sum_racy"]


def main():
    for name in sys.argv[1:] or NAMES:
        globals()[name]()
        torch.cuda.synchronize()
        print("PASS", name, flush=True)


if __name__ == "__main__":
    main()
