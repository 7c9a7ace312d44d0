# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices of 8 x 8 halves between shared memory and the registers of a warp."""
from barriers import turns

SHARED = "(unsigned)__cvta_generic_to_shared"


def move_helper(s, many, is_store):
    """A function of a warp that loads or stores matrices; a lane gives the address of a row."""
    f, h = s.k.name("put" if is_store else "get"), s.k.helpers
    turned = s.dice.pick(["", ".trans"])
    opcode = f"{'stmatrix' if is_store else 'ldmatrix'}.sync.aligned.m8n8.x{many}{turned}.shared.b16"
    first = 1 if is_store else 0
    registers = ", ".join(f"%{first + i}" for i in range(many))
    h.open(f"__device__ __forceinline__ void {f}(unsigned (&X)[{many}], void *Row)")
    if is_store:
        values = "".join(f', "r"(X[{i}])' for i in range(many))
        h(f'asm volatile("{opcode} [%0], {{{registers}}};" ::"r"({SHARED}(Row)){values} : "memory");')
    else:
        values = ", ".join(f'"=r"(X[{i}])' for i in range(many))
        h(f'asm volatile("{opcode} {{{registers}}}, [%{many}];" : {values} : "r"({SHARED}(Row)) : "memory"); // keep')
    h.close()
    h("")
    return f


def matrix_move(s):
    """Each warp loads matrices that it, or all, have written, and stores them elsewhere."""
    k, w, dice = s.k, s.w, s.dice
    if not k.whole_warps:
        return turns(s)
    many = dice.pick([1, 2, 4])
    cells = 64 * many  # Of a warp.
    a, b = (k.array("float4", cells // 8 * k.warps, "shared") for _ in range(2))
    get, put = move_helper(s, many, False), move_helper(s, many, True)
    p, q, x = k.local("P"), k.local("P"), k.local("X")
    # Whose matrices a warp loads: its own, or those of the next warp.
    shift = 0 if k.warps == 1 or dice.percent(50) else 1
    barrier = "__syncthreads();" if shift or dice.percent(30) else "__syncwarp();"
    weaker = dice.pick(["__syncwarp();"] if shift else ["__threadfence_block();"])
    w(f"unsigned short *{p} = (unsigned short *){a.name}; // keep",
      f"unsigned short *{q} = (unsigned short *){b.name}; // keep",
      f"unsigned {x}[{many}]; // keep", "__syncthreads();")
    w.open(f"for (unsigned I = Lane; I < {cells}u; I += 32u)")
    w(f"{p}[Warp * {cells}u + I] = cell<unsigned short>(V0 + I);")
    w.close()
    w(weaker if k.weak(4) else barrier)
    row = f"Lane % {8 * many}u * 8u"
    w(f"{get}({x}, &{p}[(Warp + {shift}u) % {k.warps}u * {cells}u + {row}]); // keep",
      f"V1 ^= {x}[0] + {x}[{many - 1}] * 3u;",
      f"{put}({x}, &{q}[Warp * {cells}u + {row}]);")
    w(weaker if k.weak(4) else barrier)
    w(f"V2 += {q}[(Warp + {shift}u) % {k.warps}u * {cells}u + (Lane * 5u + {dice.below(64)}u) % {cells}u];")
    w("__syncthreads();")
