// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of fmt, compiled once.
//
// The injection library must not depend on libfmt.so, and fmt as headers alone
// takes half the time of each file that includes it. So this file defines what
// fmt/format.h declares; the instantiations are those of fmt's own library.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto dragonbox::to_decimal(float X) noexcept
    -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double X) noexcept
    -> dragonbox::decimal_fp<double>;
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref)
    -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char *, const char *);
template FMT_API void vformat_to(buffer<char> &, string_view,
                                 basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                                 locale_ref);

} // namespace detail
FMT_END_NAMESPACE
