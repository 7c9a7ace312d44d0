# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel in LLVM IR: values, control flow, and the Python lines that they come from.

Triton compiles a kernel to LLVM IR for one thread, with inline PTX for what touches global
memory, and lets LLVM write the PTX. This module writes such IR while a Python function runs:
an operation on values appends an instruction, whose location is the Python line that runs.
"""

import contextlib
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "kernels")

INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = {"half": 16, "bfloat": 16, "float": 32}
GLOBAL, SHARED = "ptr addrspace(1)", "ptr addrspace(3)"


def bits(type):
    return INTEGERS.get(type) or FLOATS.get(type) or {GLOBAL: 64, SHARED: 32, "ptr": 64}[type]


def literal(value, type):
    """A Python number as an operand of an instruction."""
    if type in INTEGERS:
        return str(int(value))
    if type == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return "0x" + struct.pack(">d", value).hex().upper()


class Value:
    """A register of one thread. Pointers know the type of their elements."""

    def __init__(self, kernel, text, type, element=None):
        self.kernel, self.text, self.type, self.element = kernel, text, type, element

    def __str__(self):
        return f"{self.type} {self.text}"

    def binary(self, other, integer, floating=None, swapped=False):
        if self.type in (GLOBAL, SHARED):
            return self.kernel.offset(self, other)
        a, b = self, self.kernel.value(other, self.type)
        if swapped:
            a, b = b, a
        name = floating if self.type in FLOATS else integer
        return self.kernel.emit(f"{name} {a}, {b.text}", a.type)

    def compare(self, other, integer, floating):
        b = self.kernel.value(other, self.type)
        name = f"fcmp {floating}" if self.type in FLOATS else f"icmp {integer}"
        return self.kernel.emit(f"{name} {self}, {b.text}", "i1")

    __add__ = __radd__ = lambda a, b: a.binary(b, "add", "fadd")
    __mul__ = __rmul__ = lambda a, b: a.binary(b, "mul", "fmul")
    __sub__ = lambda a, b: a.binary(b, "sub", "fsub")
    __rsub__ = lambda a, b: a.binary(b, "sub", "fsub", swapped=True)
    __truediv__ = lambda a, b: a.kernel.divide(a, b)
    __floordiv__ = lambda a, b: a.binary(b, "sdiv")
    __mod__ = lambda a, b: a.binary(b, "srem")
    __and__ = lambda a, b: a.binary(b, "and")
    __or__ = lambda a, b: a.binary(b, "or")
    __xor__ = lambda a, b: a.binary(b, "xor")
    __lshift__ = lambda a, b: a.binary(b, "shl")
    __rshift__ = lambda a, b: a.binary(b, "lshr")
    __lt__ = lambda a, b: a.compare(b, "slt", "olt")
    __le__ = lambda a, b: a.compare(b, "sle", "ole")
    __gt__ = lambda a, b: a.compare(b, "sgt", "ogt")
    __ge__ = lambda a, b: a.compare(b, "sge", "oge")

    def equals(self, other):
        return self.compare(other, "eq", "oeq")

    def to(self, type):
        """The same number in another type."""
        if type == self.type:
            return self
        grows = bits(type) > bits(self.type)
        if self.type in INTEGERS and type in INTEGERS:
            name = ("zext" if self.type == "i1" else "sext") if grows else "trunc"
        elif self.type in INTEGERS:
            name = "sitofp"
        elif type in INTEGERS:
            name = "fptosi"
        else:
            name = "fpext" if grows else "fptrunc"
        return self.kernel.emit(f"{name} {self} to {type}", type)

    def unsigned(self, type):
        return self.kernel.emit(f"zext {self} to {type}", type)

    def bitcast(self, type):
        if type == self.type:
            return self
        return self.kernel.emit(f"bitcast {self} to {type}", type)


class Variable:
    """What a loop carries from one iteration to the next; LLVM makes registers of them."""

    def __init__(self, kernel, start):
        self.kernel, self.type = kernel, start.type
        self.slot = kernel.local(start.type)
        self.value = start

    @property
    def value(self):
        return self.kernel.emit(f"load {self.type}, ptr {self.slot}", self.type)

    @value.setter
    def value(self, new):
        new = self.kernel.value(new, self.type)
        self.kernel.emit(f"store {new}, ptr {self.slot}")


class DebugInfo:
    """Metadata: files, functions, and locations with what they are inlined at."""

    def __init__(self, name, function):
        # The names of functions, by file and line, of the locations that were used.
        self.functions = {}
        self.nodes = ['!{i32 2, !"Debug Info Version", i32 3}',
                      '!{i32 2, !"Dwarf Version", i32 2}', None]
        self.known = {}
        code = function.__code__
        file = self.file(code.co_filename)
        self.nodes[2] = (f'distinct !DICompileUnit(language: DW_LANG_C, file: {file}, '
                         'producer: "triton", isOptimized: true, runtimeVersion: 0, '
                         'emissionKind: LineTablesOnly)')
        self.kernel_code = code
        self.function = self.subprogram(code.co_filename, name, code.co_firstlineno)

    def node(self, text):
        if text not in self.known:
            self.nodes.append(text)
            self.known[text] = f"!{len(self.nodes) - 1}"
        return self.known[text]

    def file(self, path):
        return self.node(f'!DIFile(filename: "{os.path.basename(path)}", directory: "/triton")')

    def subprogram(self, path, name, line):
        file = self.file(path)
        type = self.node("!DISubroutineType(cc: DW_CC_normal, types: !{})")
        return self.node(f'distinct !DISubprogram(name: "{name}", linkageName: "{name}", scope: '
                         f'{file}, file: {file}, line: {line}, type: {type}, scopeLine: {line}, '
                         'spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2)')

    def place(self):
        """The file, line and function of the innermost frame."""
        frame = self.frames()[-1]
        return (os.path.basename(frame.f_code.co_filename), frame.f_lineno,
                frame.f_code.co_name)

    def frames(self):
        """The kernel's frame and those of functions in it, outermost first. Lines of what this
        directory's own files do are no places in a kernel."""
        found, frame = [], sys._getframe(1)
        while frame and frame.f_code is not self.kernel_code:
            code = frame.f_code
            if os.path.dirname(code.co_filename) == KERNELS and code.co_name[0] != "<":
                found.append(frame)
            frame = frame.f_back
        return ([frame] if frame else []) + found[::-1]

    def location(self):
        at = None
        for frame in self.frames():
            code = frame.f_code
            line, _, column, _ = list(code.co_positions())[frame.f_lasti // 2]
            scope = self.function if code is self.kernel_code else self.subprogram(
                code.co_filename, code.co_name, code.co_firstlineno)
            self.functions[os.path.basename(code.co_filename), line] = code.co_name
            inlined = f", inlinedAt: {at}" if at else ""
            at = self.node(f"!DILocation(line: {line}, column: {column + 1}, "
                           f"scope: {scope}{inlined})")
        return at or self.node(f"!DILocation(line: {self.kernel_code.co_firstlineno}, "
                               f"column: 1, scope: {self.function})")

    def __str__(self):
        nodes = "\n".join(f"!{n} = {text}" for n, text in enumerate(self.nodes))
        return f"!llvm.module.flags = !{{!0, !1}}\n!llvm.dbg.cu = !{{!2}}\n{nodes}\n"


class Function:
    """The IR of one kernel while it grows."""

    def __init__(self, name, function, threads):
        self.threads = threads
        self.name, self.lines, self.locals, self.count = name, [], [], 0
        self.strings = {}
        self.declarations = set()
        self.debug = DebugInfo(name, function)

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text, type=None, element=None):
        """Appends an instruction; one with a type has a result."""
        location = self.debug.location()
        if not type:
            return self.lines.append(f"  {text}, !dbg {location}")
        name = self.fresh()
        self.lines.append(f"  {name} = {text}, !dbg {location}")
        return Value(self, name, type, element)

    def value(self, number, type):
        if isinstance(number, Value):
            assert number.type == type, f"{number.type} where {type} is wanted"
            return number
        return Value(self, literal(number, type), type)

    def local(self, type):
        name = f"%slot{len(self.locals)}"
        self.locals.append(f"  {name} = alloca {type}")
        return name

    def variable(self, start, type="float"):
        return Variable(self, self.value(start, type) if not isinstance(start, Value) else start)

    def offset(self, pointer, elements):
        index = elements if isinstance(elements, Value) else self.value(elements, "i32")
        return self.emit(f"getelementptr {pointer.element}, {pointer}, {index}", pointer.type,
                         pointer.element)

    def string(self, text):
        """The address of a string in global memory."""
        data = "".join(f"\\{c:02X}" for c in text.encode() + b"\0")
        known = self.strings.setdefault(f'[{len(text) + 1} x i8] c"{data}", align 1',
                                        f"@text_{len(self.strings)}")
        return Value(self, known, "ptr")

    def call(self, type, name, *arguments):
        """Calls an intrinsic. A type in braces returns a list of its members."""
        returned = "{" + ", ".join(type) + "}" if isinstance(type, tuple) else type
        types = ", ".join(a.type for a in arguments)
        self.declarations.add(f"declare {returned} @{name}({types})")
        text = f"call {returned} @{name}({', '.join(map(str, arguments))})"
        return self.results(text, type)

    def asm(self, text, constraints, *arguments, type=None):
        """Inline PTX, which LLVM neither moves nor removes."""
        returned = "{" + ", ".join(type) + "}" if isinstance(type, tuple) else type or "void"
        text = text.replace("\n", "\\0A\\09")
        return self.results(f'call {returned} asm sideeffect "{text}", "{constraints}"'
                            f'({", ".join(map(str, arguments))})', type)

    def results(self, text, type):
        if type in (None, "void"):
            return self.emit(text)
        if not isinstance(type, tuple):
            return self.emit(text, type)
        whole = self.emit(text, "{" + ", ".join(type) + "}")
        return [self.emit(f"extractvalue {whole}, {n}", t) for n, t in enumerate(type)]

    # Control flow.

    def label(self, name):
        self.lines.append(f"{name}:")

    @contextlib.contextmanager
    def when(self, condition):
        self.count += 1
        then, after = f"then{self.count}", f"after{self.count}"
        self.emit(f"br {condition}, label %{then}, label %{after}")
        self.label(then)
        yield
        self.emit(f"br label %{after}")
        self.label(after)

    @contextlib.contextmanager
    def range(self, start, stop, step=1):
        """A loop; gives its counter, an i32."""
        self.count += 1
        head, body, after = (f"{part}{self.count}" for part in ("head", "body", "exit"))
        counter = self.variable(start, "i32")
        self.emit(f"br label %{head}")
        self.label(head)
        now = counter.value
        self.emit(f"br {now < stop}, label %{body}, label %{after}")
        self.label(body)
        yield now
        counter.value = now + step
        self.emit(f"br label %{head}")
        self.label(after)

    def repeat_while(self, condition):
        self.count += 1
        head, after = f"again{self.count}", f"done{self.count}"
        self.emit(f"br label %{head}")
        self.label(head)
        self.emit(f"br {condition()}, label %{head}, label %{after}")
        self.label(after)

    def text(self, parameters):
        """The module; parameters are the declarations of the kernel's parameters."""
        return "\n".join([
            'target triple = "nvptx64-nvidia-cuda"',
            'target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128'
            '-v16:16-v32:32-n16:32:64"',
            "@global_smem = external addrspace(3) global [0 x i8], align 16",
            *(f"{name} = internal constant {text}" for text, name in self.strings.items()),
            *sorted(self.declarations),
            f"define ptx_kernel void @{self.name}({', '.join(parameters)}) "
            f'"nvvm.reqntid"="{self.threads}" !dbg {self.debug.function} {{',
            *self.locals, *self.lines, "  ret void, !dbg " + self.debug.location(), "}",
            str(self.debug)])
