# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""instructions.py FILE: PTX with every form of instruction that the lift turns into LLVM IR.

Each thread has two numbers, `a` and `b`, which are the pairs of some that are at the ends of
ranges, and stores the result of each instruction in a word of 64 bits of its own.
"""
import sys

NUMBERS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
           0xffffffff, 0x123456789abcdef0, 0x7fffffffffffffff, 0x8000000000000000,
           0xffffffffffffffff]
WIDTHS = (16, 32, 64)
COMPARISONS = {"s": ("eq", "ne", "lt", "le", "gt", "ge"),
               "u": ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"),
               "b": ("eq", "ne")}


def arithmetic():
    for width in WIDTHS:
        r = f"r{width}"
        a, b = f"%a{width}", f"%b{width}"
        for sign in "su":
            t = f"{sign}{width}"
            for op in ("add", "sub", "min", "max", "mul.lo"):
                yield r, f"{op}.{t} %{r}, {a}, {b};"
            yield r, f"mad.lo.{t} %{r}, {a}, {b}, {a};"
            yield r, f"shr.{t} %{r}, {a}, 5;"
            yield r, f"shr.{t} %{r}, {a}, 200;"
            yield r, f"mul.hi.{t} %{r}, {a}, {b};"
            if width < 64:
                yield f"r{2 * width}", f"mul.wide.{t} %r{2 * width}, {a}, {b};"
                yield (f"r{2 * width}",
                       f"mad.wide.{t} %r{2 * width}, {a}, {b}, %a{2 * width};")
        for op in ("and", "or", "xor"):
            yield r, f"{op}.b{width} %{r}, {a}, {b};"
        yield r, f"not.b{width} %{r}, {a};"
        yield r, f"neg.s{width} %{r}, {a};"
        yield r, f"shl.b{width} %{r}, {a}, 3;"
        yield r, f"shl.b{width} %{r}, {a}, {width};"
        yield r, f"shl.b{width} %{r}, {a}, %b32;"
        yield r, f"add.s{width} %{r}, {a}, -7;"


def comparisons():
    for width in WIDTHS:
        for sign, names in COMPARISONS.items():
            for name in names:
                yield "p", f"setp.{name}.{sign}{width} %p, %a{width}, %b{width};"
        for how in ("and", "or", "xor"):
            yield "p", f"setp.lt.{how}.s{width} %p, %a{width}, %b{width}, %q;"
            yield "p", f"setp.ge.{how}.u{width} %p|%o, %a{width}, %b{width}, !%q;"
            yield "o", f"setp.ge.{how}.u{width} %p|%o, %a{width}, %b{width}, !%q;"
        yield f"r{width}", f"selp.b{width} %r{width}, %a{width}, %b{width}, %q;"
        yield f"r{width}", f"selp.b{width} %r{width}, 3, %b{width}, %q;"
    for op in ("and", "or", "xor"):
        yield "p", f"setp.lt.s32 %o, %a32, 5; {op}.pred %p, %q, %o;"
    yield "p", "not.pred %p, %q;"
    yield "p", "mov.pred %p, %q;"


def conversions():
    for of in (8, 16, 32, 64):
        for to in (8, 16, 32, 64):
            for s in "su":
                for t in "su":
                    source, result = max(of, 16), max(to, 16)
                    yield (f"r{result}", f"cvt.{t}{to}.{s}{of} %r{result}, %a{source};")
    # A result in a register that is wider than its type.
    yield "r32", "cvt.s8.s32 %r32, %a32;"
    yield "r32", "cvt.u8.u32 %r32, %a32;"
    yield "r64", "cvt.s16.s64 %r64, %a64;"
    yield "r32", "cvt.sat.u8.s32 %r32, %a32;"


def moves():
    yield "r32", "mov.b32 %r32, {%a16, %b16};"
    yield "r64", "mov.b64 %r64, {%a32, %b32};"
    yield "r64", "mov.b64 %r64, {%a16, %b16, %a16, %b16};"
    yield "r32", "mov.b64 {_, %r32}, %a64;"
    yield "r16", "mov.b32 {%r16, _}, %a32;"
    yield "r64", "mov.b64 {%c32, %r32}, %a64; mov.b64 %r64, {%r32, %c32};"
    yield "r32", "mov.f32 %f32, 0f3F8CCCCD; mov.b32 %r32, %f32;"
    yield "r64", "mov.f64 %f64, 0d3FF199999999999A; mov.b64 %r64, %f64;"
    yield "r32", "add.f32 %f32, 1.5, 0f3F8CCCCD; mov.b32 %r32, %f32;"
    yield "r32", "mov.u32 %r32, WARP_SZ;"
    yield "r32", "mov.u32 %r32, %ntid.x;"
    yield "r32", "mov.u32 %r32, %laneid;"


def carries():
    yield "r32", "add.cc.u32 %c32, %a32, %b32; addc.u32 %r32, %a32, 0;"
    yield ("r64", "add.cc.u32 %a32, %a32, %b32; addc.cc.u32 %c32, %b32, %a32; "
                  "addc.u32 %r32, 0, 0; mov.b64 %r64, {%r32, %c32};")
    yield "r32", "sub.cc.u32 %c32, %a32, %b32; subc.u32 %r32, 0, 0;"
    yield ("r32", "mad.lo.cc.u32 %c32, %a32, %b32, %a32; "
                  "madc.hi.u32 %r32, %a32, %b32, %c32;")
    yield ("r64", "add.cc.u64 %c64, %a64, %b64; xor.b64 %c64, %c64, %a64; "
                  "addc.u64 %r64, %c64, 0;")


def predicated():
    yield "r32", "mov.u32 %r32, 7; @%q mov.u32 %r32, %a32;"
    yield "r32", "mov.u32 %r32, 7; @!%q add.u32 %r32, %a32, %b32;"
    yield "r32", "mov.f32 %f32, 0f00000000; @%q cvt.rn.f32.s32 %f32, %a32; mov.b32 %r32, %f32;"


def memory():
    """Through the thread's part of shared, local and global memory."""
    for space, base in (("shared", "%s32"), ("shared", "%s64"), ("local", "%l64"),
                        ("global", "%g64")):
        yield "r64", f"st.{space}.u64 [{base}], %a64; ld.{space}.u64 %r64, [{base}];"
        for bits in (8, 16, 32):
            for sign in "su":
                yield ("r32" if bits < 32 else "r64",
                       f"st.{space}.u64 [{base}], %a64; "
                       f"ld.{space}.{sign}{bits} %r{32 if bits < 32 else 64}, [{base}+{bits // 8}];")
            yield ("r64", f"st.{space}.u64 [{base}], %b64; "
                          f"st.{space}.u{bits} [{base}+4], %a{max(bits, 16)}; "
                          f"ld.{space}.b64 %r64, [{base}];")
        yield ("r64", f"st.{space}.v4.u16 [{base}], {{%a16, %b16, %a16, 5}}; "
                      f"ld.{space}.v2.b32 {{%r32, %c32}}, [{base}]; mov.b64 %r64, {{%c32, %r32}};")
        yield ("r32", f"st.{space}.u64 [{base}], %a64; ld.{space}.v4.s8 "
                      f"{{%r32, %c32, _, _}}, [{base}]; sub.s32 %r32, %r32, %c32;")
    for base, name in (("%l64", "local"), ("%s64", "shared")):
        yield ("r64", f"st.{name}.u64 [{base}], %a64; cvta.{name}.u64 %c64, {base}; "
                      f"ld.u64 %r64, [%c64]; cvta.to.{name}.u64 %c64, %c64; "
                      f"ld.{name}.u64 %c64, [%c64]; add.s64 %r64, %r64, %c64;")
    yield "r64", "ld.const.u64 %r64, [table+16];"
    yield "r64", "mov.u64 %c64, table; ld.const.u64 %r64, [%c64+8];"
    yield "r64", "ld.global.nc.u64 %r64, [numbers+24];"
    yield "r64", "ld.param.u64 %r64, [k_param_2+8];"
    yield "r32", "ld.param.v2.u32 {%c32, %r32}, [k_param_2];"
    yield "r64", "mov.b64 %c64, k_param_2; ld.param.u64 %r64, [%c64+8];"
    yield "r32", "ld.param.s16 %r32, [k_param_1+2];"


def calls():
    yield ("r64", """{ .param .b64 p0; st.param.b64 [p0], %a64; .param .align 8 .b8 p1[16];
      st.param.b64 [p1], %a64; st.param.v2.b32 [p1+8], {%a32, %b32}; .param .b64 r0;
      call.uni (r0), mixed, (p0, p1); ld.param.b64 %r64, [r0]; }""")
    yield ("r64", """{ .param .b32 p0; st.param.b32 [p0], %b32; .param .align 8 .b8 r0[16];
      call.uni (r0), pair, (p0); ld.param.b64 %r64, [r0+8]; ld.param.b64 %c64, [r0];
      add.s64 %r64, %r64, %c64; }""")
    yield ("r64", """{ .param .b64 p0; st.param.b64 [p0], %b64; .param .b64 r0;
      selp.b64 %c64, %t64, %u64, %q;
      proto: .callprototype (.param .b64 _) _ (.param .b64 _);
      call (r0), %c64, (p0), proto; ld.param.b64 %r64, [r0]; }""")


def flow():
    yield ("r32", """{ mov.u32 %r32, 0; and.b32 %c32, %a32, 3;
      targets: .branchtargets L0, L1, L2, L3;
      brx.idx %c32, targets;
      L0: add.u32 %r32, %r32, 1;
      L1: add.u32 %r32, %r32, 10;
      bra.uni End;
      L2: add.u32 %r32, %r32, 100;
      L3: add.u32 %r32, %r32, 1000;
      End: add.u32 %r32, %r32, %c32; }""")
    yield ("r32", """{ .reg .pred %p; .reg .u32 %n; and.b32 %n, %b32, 7; mov.u32 %r32, 0;
      Loop: add.u32 %r32, %r32, %n; sub.u32 %n, %n, 1; setp.gt.s32 %p, %n, 0;
      @%p bra Loop; }""")


HEAD = """.version 8.0
.target sm_80
.address_size 64
.const .align 8 .u64 table[4] = {1, 0x8877665544332211, -3, 4};
.global .align 8 .u64 numbers[4] = {9, 8, 7, 6};
.global .align 8 .b8 spaces[%(bytes)d];
.visible .func (.param .b64 r) twice(.param .b64 x);
.global .align 8 .u64 where[3] = {generic(spaces)+8, twice, numbers};

.visible .func (.param .b64 r) twice(.param .b64 x) {
  .reg .b64 %%v; ld.param.b64 %%v, [x]; add.s64 %%v, %%v, %%v; st.param.b64 [r], %%v; ret;
}
.func (.param .b64 r) thrice(.param .b64 x) {
  .reg .b64 %%v<2>; ld.param.b64 %%v0, [x]; mad.lo.s64 %%v1, %%v0, 2, %%v0;
  st.param.b64 [r], %%v1; ret;
}
.func (.param .b64 r) mixed(.param .b64 x, .param .align 8 .b8 s[16]) {
  .reg .b64 %%v<3>; .reg .b32 %%w; .reg .pred %%p;
  ld.param.b64 %%v0, [x]; ld.param.b64 %%v1, [s]; ld.param.s32 %%v2, [s+12];
  setp.eq.s64 %%p, %%v0, 0;
  @%%p bra Zero;
  xor.b64 %%v0, %%v0, %%v2;
  add.s64 %%v0, %%v0, %%v1; st.param.b64 [r], %%v0; ret;
Zero:
  st.param.b64 [r], %%v1; ret;
}
.func (.param .align 8 .b8 r[16]) pair(.param .b32 x) {
  .reg .b64 %%v; ld.param.u32 %%v, [x]; st.param.b64 [r], %%v;
  shl.b64 %%v, %%v, 2; st.param.b64 [r+8], %%v; ret;
}
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1, .param .align 8 .b8 k_param_2[16])
.maxntid %(threads)d, 1, 1
{
  .local .align 16 .b8 frame[32];
  .shared .align 16 .b8 tile[%(bytes)d];
  .reg .b16 %%a16, %%b16, %%r16, %%c16;
  .reg .b32 %%a32, %%b32, %%r32, %%c32, %%s32, %%x<4>;
  .reg .b64 %%a64, %%b64, %%r64, %%c64, %%s64, %%l64, %%g64, %%t64, %%u64, %%out, %%y<4>;
  .reg .f32 %%f32; .reg .f64 %%f64;
  .reg .pred %%p, %%q, %%o, %%last;
  mov.u32 %%x0, %%tid.x;
  and.b32 %%x1, %%x0, 15;
  shr.u32 %%x2, %%x0, 4;
  mov.u64 %%y0, inputs;
  mul.wide.u32 %%y1, %%x1, 8; add.s64 %%y1, %%y0, %%y1; ld.const.u64 %%y2, [%%y1];
  mul.wide.u32 %%y1, %%x2, 8; add.s64 %%y1, %%y0, %%y1; ld.const.u64 %%y3, [%%y1];
  ld.param.u64 %%out, [k_param_0]; cvta.to.global.u64 %%out, %%out;
  mul.wide.u32 %%y1, %%x0, 8; add.s64 %%out, %%out, %%y1;
  mov.u32 %%s32, tile; mad.lo.u32 %%s32, %%x0, 16, %%s32; cvt.u64.u32 %%s64, %%s32;
  mov.u64 %%l64, frame;
  ld.global.u64 %%g64, [where]; mad.wide.u32 %%g64, %%x0, 16, %%g64;
  cvta.to.global.u64 %%g64, %%g64; add.s64 %%g64, %%g64, -8;
  mov.u64 %%t64, thrice; ld.global.u64 %%u64, [where+8];
"""
GROUPS = (arithmetic, comparisons, conversions, moves, carries, predicated, memory, calls, flow)


def widened(register):
    """The lines that make 64 bits of a result."""
    if register in "po":
        return f"selp.b64 %r64, 1, 0, %{register};"
    return "" if register == "r64" else f"cvt.u64.u{register[1:]} %r64, %{register};"


def main():
    threads = len(NUMBERS) ** 2
    lines = [HEAD % {"threads": threads, "bytes": 16 * threads + 16}]
    lines.insert(0, "")
    count = 0
    for group in GROUPS:
        for register, text in group():
            lines.append("  mov.b64 %a64, %y2; mov.b64 %b64, %y3; cvt.u32.u64 %a32, %y2; "
                         "cvt.u32.u64 %b32, %y3; cvt.u16.u64 %a16, %y2; cvt.u16.u64 %b16, %y3; "
                         "setp.lt.s64 %q, %y2, %y3;")
            lines.append(f"  {text}")
            lines.append(f"  {widened(register)} st.global.u64 [%out+{8 * threads * count}], %r64;")
            count += 1
    lines.append("  ret;\n}")
    inputs = ", ".join(map(hex, NUMBERS))
    text = "\n".join(lines).replace(".const .align 8 .u64 table",
                                    f".const .align 8 .u64 inputs[{len(NUMBERS)}] = {{{inputs}}};\n"
                                    ".const .align 8 .u64 table", 1)
    with open(sys.argv[1], "w") as file:
        file.write(text.lstrip("\n"))
    print(count)


main()
