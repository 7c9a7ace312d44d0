# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels are written in: the operations of one thread, as Triton lowers its own.

A block has 128 threads, or as many as THREADS says. `tid` is the thread, `smem` the block's
shared memory.
"""

import ir
from ir import GLOBAL, SHARED, Function, Value, bits

REGISTER = {8: "h", 16: "h", 32: "r", 64: "l"}


class Kernel(Function):
    def __init__(self, name, function, threads, racy):
        super().__init__(name, function, threads)
        self.racy = racy

    # Where a thread is.

    @property
    def tid(self):
        return self.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x")

    def program_id(self, axis):
        return self.call("i32", f"llvm.nvvm.read.ptx.sreg.ctaid.{'xyz'[axis]}")

    def num_programs(self, axis):
        return self.call("i32", f"llvm.nvvm.read.ptx.sreg.nctaid.{'xyz'[axis]}")

    def smem(self, bytes=0, type="float"):
        base = Value(self, "@global_smem", SHARED, "i8")
        at = base if isinstance(bytes, int) and bytes == 0 else base + bytes
        return Value(self, at.text, SHARED, type)

    def pointer(self, address, type):
        """A pointer to global memory, of a number."""
        return self.emit(f"inttoptr {address} to {GLOBAL}", GLOBAL, type)

    # Global memory.

    def policy(self, evict):
        """What to do with cached lines: "evict_first" or "evict_last"."""
        return self.asm("mov.u64 $0, 0x0;\n"
                        f"createpolicy.fractional.L2::{evict}.b64 $0, 1.0;", "=l", type="i64")

    def load(self, pointer, mask=None, count=1, other=None, evict=None):
        """`count` elements that follow each other; small ones in words of 32 bits. Where the mask
        is false they are `other`, or zero."""
        element = pointer.element
        size = bits(element) * count // 8
        word = min(size, max(bits(element) // 8, 4))
        words, width, letter = size // word, max(word * 8, 16), REGISTER[word * 8]
        names = [f"${n}" for n in range(words)]
        constraints, arguments = [f"={letter}"] * words, []

        def operand(value, constraint):
            constraints.append(constraint)
            arguments.append(value)
            return f"${len(constraints) - 1}"

        lines = [f"mov.u{width} {name}, 0x0;" for name in names]
        at = operand(pointer, "l")
        guard = operand(mask, "b") if mask is not None else None
        hint = f".L1::{evict}.L2::cache_hint" if evict else ""
        lines.append((f"@{guard} " if guard else "") + "ld.global" + hint +
                     ("" if words == 1 else f".v{words}") +
                     f".b{word * 8} {{ {', '.join(names)} }}, [ {at} + 0 ]" +
                     (f", {operand(self.policy(evict), 'l')};" if evict else ";"))
        if other is not None:
            same = [self.value(other, element)] * (word * 8 // bits(element))
            instead = operand(self.pack(same)[0], letter)
            lines += [f"@!{guard} mov.u{width} {name}, {instead};" for name in names]
        raw = (f"i{width}",) * words if words > 1 else f"i{width}"
        got = self.asm("\n".join(lines), ",".join(constraints), *arguments, type=raw)
        values = self.unpack(got if words > 1 else [got], element)
        return values if count > 1 else values[0]

    def store(self, pointer, values, mask=None, shared=False):
        values = values if isinstance(values, list) else [values]
        words = self.pack(values)
        width = bits(values[0].type) if len(words) == len(values) else 32
        names = ", ".join(f"${n}" for n in range(len(words)))
        vector = "" if len(words) == 1 else f".v{len(words)}"
        guard = "" if mask is None else f"@${len(words) + 1} "
        space, register = ("shared", "r") if shared else ("global", "l")
        self.asm(f"{guard}st.{space}{vector}.b{width} [ ${len(words)} + 0 ], {{ {names} }};",
                 ",".join([REGISTER[max(width, 16)]] * len(words) + [register] +
                          ["b"] * (mask is not None)),
                 *words, pointer, *([mask] if mask is not None else []))

    def unpack(self, words, element):
        size, result = bits(element), []
        for w in words:
            if bits(w.type) == 16 and size == 8:
                result.append(self.emit(f"trunc {w} to i8", "i8"))
                continue
            for n in range(bits(w.type) // size):
                part = w if n == 0 else w >> (n * size)
                if size < bits(w.type):
                    part = self.emit(f"trunc {part} to i{size}", f"i{size}")
                result.append(part.bitcast(element))
        return result

    def pack(self, values):
        """Elements as words of 32 bits; a single small one as it is."""
        size = bits(values[0].type)
        raw = [v.bitcast(f"i{size}") for v in values]
        if size == 32 or len(values) * size < 32:
            return [v.unsigned("i16") if size == 8 else v for v in raw]
        if size == 64:
            return raw
        words = []
        for first in range(0, len(raw), 32 // size):
            word = raw[first].unsigned("i32")
            for n in range(1, 32 // size):
                word = word | (raw[first + n].unsigned("i32") << (n * size))
            words.append(word)
        return words

    def copy_async(self, shared, pointer, mask=None):
        """16 bytes; where the mask is false, zeros."""
        copy = "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, "
        if mask is None:
            return self.asm(copy + "0x10;", "r,l", shared, pointer)
        self.asm(copy + "$2;", "r,l,r", shared, pointer, self.select(mask, 16, 0, "i32"))

    def commit_group(self):
        self.call("void", "llvm.nvvm.cp.async.commit.group")

    def wait_group(self, pending):
        self.call("void", "llvm.nvvm.cp.async.wait.group", self.value(pending, "i32"))

    # Shared memory.

    def load_shared(self, pointer, count=1):
        type = pointer.element if count == 1 else f"<{count} x {pointer.element}>"
        align = bits(pointer.element) * count // 8
        whole = self.emit(f"load {type}, {pointer}, align {align}", type)
        if count == 1:
            return whole
        return [self.emit(f"extractelement {whole}, i32 {n}", pointer.element)
                for n in range(count)]

    def store_shared(self, pointer, values, mask=None):
        if mask is not None:
            return self.store(pointer, values, mask, shared=True)
        values = values if isinstance(values, list) else [values]
        if len(values) == 1:
            return self.emit(f"store {values[0]}, {pointer}, align {bits(values[0].type) // 8}")
        type = f"<{len(values)} x {values[0].type}>"
        vector = "poison"
        for n, v in enumerate(values):
            vector = self.emit(f"insertelement {type} {vector}, {v}, i32 {n}", type).text
        self.emit(f"store {type} {vector}, {pointer}, "
                  f"align {bits(values[0].type) * len(values) // 8}")

    def barrier(self):
        self.call("void", "llvm.nvvm.barrier.cta.sync.aligned.all", self.value(0, "i32"))

    def device_assert(self, condition, message):
        """Ends the program with a message where the condition does not hold."""
        file, line, function = self.debug.place()
        with self.when(condition ^ 1):
            self.call("void", "__assertfail", self.string(message), self.string(file),
                      self.value(line, "i32"), self.string(function), self.value(1, "i64"))
        self.barrier()

    def barrier_of(self, number, threads):
        """Another barrier than that of the whole block."""
        self.call("void", "llvm.nvvm.barrier.cta.sync.aligned.count", self.value(number, "i32"),
                  self.value(threads, "i32"))

    # Atomics. Those of one element a block are made by thread 0, whose result all get.

    def atomic(self, operation, pointer, value, mask, order="acq_rel", scope="gpu"):
        width = bits(value.type)
        letter = REGISTER[width]
        return self.asm(f"mov.u{width} $0, 0x0;\n@$3 atom.global.{scope}.{order}.{operation} $0, "
                        "[ $1 + 0 ], $2;", f"={letter},l,{letter},b", pointer,
                        value.bitcast(f"i{width}"), mask, type=f"i{width}").bitcast(value.type)

    def add_shared(self, pointer, value):
        self.emit(f'atomicrmw add {pointer}, {value} syncscope("block") monotonic, align 4', "i32")

    def compare_and_swap(self, pointer, expected, new, scratch, order="acq_rel"):
        """For the whole block, through 4 bytes of shared memory."""
        got = self.asm(f"mov.u32 $0, 0x0;\n@$4 atom.global.gpu.{order}.cas.b32 $0, "
                       "[ $1 + 0 ], $2, $3;", "=r,l,r,r,b", pointer, self.value(expected, "i32"),
                       self.value(new, "i32"), self.tid.equals(0), type="i32")
        place = self.smem(scratch, "i32")
        self.store_shared(place, got, self.tid.equals(0))
        self.barrier()
        seen = self.load_shared(place)
        self.barrier()
        return seen

    # Arithmetic.

    def select(self, condition, a, b, type=None):
        type = type or (a.type if isinstance(a, Value) else b.type)
        return self.emit(f"select {condition}, {self.value(a, type)}, {self.value(b, type)}", type)

    def maximum(self, a, b):
        b = self.value(b, a.type)
        name = "llvm.maxnum.f32" if a.type == "float" else f"llvm.smax.{a.type}"
        return self.call(a.type, name, a, b)

    def minimum(self, a, b):
        b = self.value(b, a.type)
        name = "llvm.minnum.f32" if a.type == "float" else f"llvm.smin.{a.type}"
        return self.call(a.type, name, a, b)

    def absolute(self, a):
        return self.call("float", "llvm.fabs.f32", a)

    def fma(self, a, b, c):
        return self.call("float", "llvm.fma.f32", a, b, c)

    def exp2(self, a):
        return self.call("float", "llvm.nvvm.ex2.approx.ftz.f", a)

    def exp(self, a):
        return self.exp2(a * 1.4426950408889634)

    def rsqrt(self, a):
        return self.call("float", "llvm.nvvm.rsqrt.approx.ftz.f", a)

    def divide(self, a, b):
        if a.type != "float":
            return a // b
        b = self.value(b, "float")
        return self.call("float", "llvm.nvvm.div.full", a, b)

    def multiply_high(self, a, b):
        """The upper half of a product of unsigned numbers."""
        b = self.value(b, "i32")
        return (((a.unsigned("i64") * b.unsigned("i64")) >> 32)).to("i32")

    def round_to_int(self, a):
        return self.asm("cvt.rni.sat.s8.f32 $0, $1;", "=h,f", a, type="i16").to("i8")

    def bfloat_pair(self, low, high):
        return self.asm("cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", high, low, type="i32")

    def half_pair(self, low, high):
        return self.asm("cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f", high, low, type="i32")

    # Lanes of a warp.

    def shuffle(self, kind, value, lanes):
        clamp = 0 if kind == "up" else 31
        arguments = [self.value(-1, "i32"), value.bitcast("i32"),
                     lanes if isinstance(lanes, Value) else self.value(lanes, "i32"),
                     self.value(clamp, "i32")]
        return self.call("i32", f"llvm.nvvm.shfl.sync.{kind}.i32", *arguments).bitcast(value.type)

    # Matrices.

    def load_matrix(self, shared, transposed=False):
        """Four matrices of 8 by 8 elements of 16 bits."""
        trans = "trans." if transposed else ""
        return self.call(("i32",) * 4,
                         f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.{trans}b16.p3", shared)

    def mma(self, a, b, acc, type="f16"):
        """acc (16 by 8, float) + a (16 by 16) * b (16 by 8)"""
        return self.asm(f"mma.sync.aligned.m16n8k16.row.col.f32.{type}.{type}.f32 "
                        "{ $0, $1, $2, $3 }, { $4, $5, $6, $7 }, { $8, $9 }, "
                        "{ $10, $11, $12, $13 };", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3", *a, *b,
                        *acc, type=("float",) * 4)

    def elected(self, warp=0):
        """True in one thread of the block, a lane of this warp, all of whose lanes ask."""
        all_lanes = self.value(-1, "i32")
        lane = self.call(("i32", "i1"), "llvm.nvvm.elect.sync", all_lanes)[1]
        return lane & (self.tid >> 5).equals(warp)

    # Tensor copies and their barriers in shared memory, made by one thread.

    def init_barrier(self, barrier, count):
        self.asm(f"@$1 mbarrier.init.shared::cta.b64 [$0], {count};", "r,b", barrier,
                 self.tid.equals(0))

    def inval_barrier(self, barrier):
        self.asm("@$1 mbarrier.inval.shared::cta.b64 [$0];", "r,b", barrier, self.tid.equals(0))

    def expect(self, barrier, bytes, mask):
        self.asm(f"@$1 mbarrier.arrive.expect_tx.shared.b64 _, [$0], {bytes};", "r,b", barrier,
                 mask)

    def arrive(self, barrier, mask):
        self.asm("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b", barrier, mask)

    def wait_barrier(self, barrier, phase):
        self.asm("{\n.reg .pred complete;\nwaitLoop:\n"
                 "mbarrier.try_wait.parity.shared.b64 complete, [$0], $1;\n"
                 "@!complete bra.uni waitLoop;\n}", "r,r", barrier, phase)

    def tensor_load(self, shared, descriptor, x, y, barrier, mask):
        self.asm("@$0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[$1], [$2, {$3, $4}], [$5];", "b,r,l,r,r,r", mask, shared, descriptor, x, y,
                 barrier)

    def tensor_store(self, descriptor, x, y, shared):
        self.asm("@$0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {$2, $3}], "
                 "[$4];", "b,l,r,r,r", self.tid.equals(0), descriptor, x, y, shared)
        self.call("void", "llvm.nvvm.cp.async.bulk.commit.group")

    def wait_stores(self):
        self.call("void", "llvm.nvvm.cp.async.bulk.wait.group.read", self.value(0, "i32"))

    def fence_async(self):
        self.asm("fence.proxy.async.shared::cta;", "")
