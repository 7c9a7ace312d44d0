; Intent: a module gets a table, its sites and its windows, named by one identity.
; RUN: %opt -load-pass-plugin=%pass_plugin -passes=crsan-mark,crsan -verify-each -S %s | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

; Two accesses of 48 bytes each, two windows of 8. The second words are the size, and
; 1 << 40 (global), with 1 << 32 (a store) and 9 << 56 (its value is known, and it takes
; garbage).
; CHECK-DAG: @__crsan_table_[[UNIT:[0-9a-f]+]] = addrspace(1) constant [{{[0-9]+}} x i8] c"CRSN{{.*}}k.cu{{.*}}", align 8
; CHECK-DAG: @__crsan_sites_[[UNIT]] = addrspace(1) global [12 x i64] [i64 {{[^,]*}}, i64 1099511627780, i64 0, i64 0, i64 0, i64 0, i64 {{[^,]*}}, i64 648519450147946500, i64 0, i64 0, i64 0, i64 0], align 8
; CHECK-DAG: @__crsan_windows_[[UNIT]] = addrspace(1) global [3 x i64] zeroinitializer, align 8
; CHECK: @llvm.compiler.used = {{.*}}@__crsan_table_[[UNIT]]{{.*}}@__crsan_sites_[[UNIT]]{{.*}}@__crsan_windows_[[UNIT]]
define ptx_kernel void @k(ptr addrspace(1) %p) !dbg !4 {
  %v = load i32, ptr addrspace(1) %p, !dbg !7
  fence seq_cst
  store i32 1, ptr addrspace(1) %p, !dbg !7
  ret void, !dbg !7
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!7 = !DILocation(line: 2, column: 1, scope: !4)
