# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks/run has measured, as tables in Markdown and as a plot."""
import html
import math
import statistics


def rows(head, lines):
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def all_launches(result):
    """Microseconds of all kernels, first launches included."""
    return sum(k["total_us"] for k in result["kernels"].values())


def first_launches(result):
    return sum(k["first_us"] for k in result["kernels"].values())


def later_launches(result):
    """None if each kernel is launched once."""
    later = [k["total_us"] - k["first_us"] for k in result["kernels"].values()
             if k["launches"] > 1]
    return sum(later) if later else None


def process(result):
    return result["process_s"] * 1e6


def median(runs, of):
    values = [of(run) for run in runs if "problem" not in run]
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def ratios(results, one, of):
    """{program: time over that of the native program}"""
    found = {}
    for name, by_title in results.items():
        mine = median(by_title.get(one.title, []), of)
        native = median(by_title.get(one.native, []), of)
        if mine and native:
            found[name] = mine / native
    return found


def shown(ratio):
    return "" if ratio is None else f"{ratio:.3g}x"


def time_table(title, results, series, of):
    checked = [s for s in series if not s.is_native()]
    by_series = {s: ratios(results, s, of) for s in checked}
    native = {name: median(by_title.get("native", []), of) for name, by_title in results.items()}
    lines = [[name, f"{time:.1f}", *(shown(by_series[s].get(name)) for s in checked)]
             for name, time in native.items() if time]
    summaries = {"geometric mean": geometric_mean, "median": statistics.median, "worst": max}
    lines += [[text, "", *(shown(f(by_series[s].values())) if by_series[s] else ""
                           for s in checked)] for text, f in summaries.items()]
    return rows([title, "native, us", *(s.title for s in checked)], lines)


def memory_table(results, series):
    """The most that any program had more than native."""
    checked = [s for s in series if not s.is_native()]

    def more(one):
        used = lambda result: result["used_mib"]
        pairs = [(median(r.get(one.title, []), used), median(r.get(one.native, []), used))
                 for r in results.values()]
        return [mine - native for mine, native in pairs if None not in (mine, native)]

    found = {s: more(s) for s in checked}
    return rows(["device memory more than native, MiB", *(s.title for s in checked)],
                [[text, *(f"{f(found[s]):.0f}" if found[s] else "" for s in checked)]
                 for text, f in (("median", statistics.median), ("most", max))])


def build_table(results, built, series):
    """Of the programs themselves; times mean little where several compile at once."""
    variants = list(dict.fromkeys(s.variant for s in series if not s.is_native()))
    natives = {s.variant: s.native for s in series}
    lines = []
    for text, key in (("time to compile over native", "compile_s"),
                      ("size of the program over native", "bytes")):
        def over(variant):
            pairs = [(built.get(f"{name}.{variant}"), built.get(f"{name}.{natives[variant]}"))
                     for name in results]
            values = [a[key] / b[key] for a, b in pairs if a and b]
            return shown(geometric_mean(values)) if values else ""
        lines.append([text, *map(over, variants)])
    return rows(["geometric means", *variants], lines)


def planted_table(planted, series, unseen):
    """`unseen`: {program: {mode: why it cannot find the race}}"""
    checked = [s for s in series if not s.is_native()]
    reasons = []

    def counts(runs):
        runs = [r for r in runs if "problem" not in r]
        return sum(bool(r["accused"]) for r in runs), len(runs)

    lines, sums = [], {s: [0, 0] for s in checked}
    for name, by_title in planted.items():
        cells = []
        for s in checked:
            found, all_runs = counts(by_title.get(s.title, []))
            if all_runs and s.mode in unseen.get(name, {}):
                cells.append(f"{found}/{all_runs} (a)")
                reasons.append(f"- {name}, {s.title}: {unseen[name][s.mode]}")
                continue
            sums[s] = [sums[s][0] + found, sums[s][1] + all_runs]
            cells.append(f"{found}/{all_runs}" if all_runs else "")
        lines.append([name, *cells])
    lines.append(["all", *(f"{100 * found / all_runs:.1f} %" if all_runs else ""
                           for found, all_runs in sums.values())])
    table = rows(["planted race found", *(s.title for s in checked)], lines)
    if reasons:
        table += "\n\n(a): the mode cannot see the race; not counted.\n\n" + "\n".join(reasons)
    return table


def all_tables(results, planted, built, series, unseen):
    parts = [time_table("all launches", results, series, all_launches),
             time_table("first launches", results, series, first_launches),
             time_table("later launches", results, series, later_launches),
             time_table("whole process", results, series, process),
             memory_table(results, series), build_table(results, built, series)]
    if planted:
        parts.append(planted_table(planted, series, unseen))
    return "\n\n".join(parts) + "\n"


COLOURS = ["#1b6ca8", "#c8553d", "#588b3a", "#8a5fa8", "#b58a2c", "#3d8f8a", "#7a7a7a"]


def plot(results, series):
    """Times over native of all launches: a row for each program, a mark for each
    series, on a logarithmic axis."""
    checked = [s for s in series if not s.is_native()]
    points = {s: ratios(results, s, all_launches) for s in checked}
    names = sorted(results, key=lambda name: -max(
        (points[s].get(name, 0) for s in checked), default=0))
    most = max((r for s in checked for r in points[s].values()), default=1)
    left, top, width, line = 190, 30 + 16 * len(checked), 560, 16
    decades = max(1, math.ceil(math.log10(max(most, 1.001))))

    def x(ratio):
        return left + width * math.log10(max(ratio, 0.5) / 0.5) / (decades + math.log10(2))

    height = top + line * len(names) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {height}" '
           'font-family="sans-serif" font-size="11">',
           '<style>text{fill:#222}line{stroke:#bbb}@media(prefers-color-scheme:dark)'
           '{text{fill:#ddd}line{stroke:#555}}</style>']
    for i, s in enumerate(checked):
        out.append(f'<circle cx="{left}" cy="{14 + 16 * i}" r="4" fill="{COLOURS[i % 7]}"/>'
                   f'<text x="{left + 10}" y="{18 + 16 * i}">{html.escape(s.title)}</text>')
    for ratio in [k * 10 ** d for d in range(decades + 1) for k in (1, 2, 5)]:
        if ratio <= 10 ** decades:
            out.append(f'<line x1="{x(ratio):.1f}" x2="{x(ratio):.1f}" y1="{top - 8}" '
                       f'y2="{height - 26}"/><text x="{x(ratio):.1f}" y="{height - 12}" '
                       f'text-anchor="middle">{ratio}x</text>')
    for row, name in enumerate(names):
        y = top + line * row
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{html.escape(name)}</text>')
        out += [f'<circle cx="{x(points[s][name]):.1f}" cy="{y}" r="4" fill="{COLOURS[i % 7]}"/>'
                for i, s in enumerate(checked) if name in points[s]]
    return "\n".join([*out, "</svg>"]) + "\n"


def curves(found, titles):
    """`found`: {what grows: [(how much of it, time over native of each series)]}. A panel
    for each, with both axes logarithmic and the same heights in all."""
    width, height, left, top, gap = 190, 180, 46, 34 + 16 * len(titles), 56
    most = max((r for points in found.values() for _, all_ratios in points for r in all_ratios),
               default=1)
    ticks = [k * 10 ** d for d in range(-1, 4) for k in (1, 2, 5)]
    low = 0.5
    high = min(t for t in ticks if t >= most)

    def y(ratio):
        return top + height * (1 - math.log(max(ratio, low) / low) / math.log(high / low))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 '
           f'{left + len(found) * (width + gap)} {top + height + 44}" '
           'font-family="sans-serif" font-size="11">',
           '<style>text{fill:#222}line{stroke:#bbb}@media(prefers-color-scheme:dark)'
           '{text{fill:#ddd}line{stroke:#555}}</style>']
    for i, title in enumerate(titles):
        out.append(f'<circle cx="{left}" cy="{14 + 16 * i}" r="4" fill="{COLOURS[i]}"/>'
                   f'<text x="{left + 10}" y="{18 + 16 * i}">{html.escape(title)}, '
                   'time over native</text>')
    for panel, (what, points) in enumerate(found.items()):
        begin = left + panel * (width + gap)
        amounts = [amount for amount, _ in points]
        span = math.log(amounts[-1] / amounts[0]) or 1

        def x(amount):
            return begin + width * math.log(amount / amounts[0]) / span

        for tick in ticks:
            if low <= tick <= high:
                out.append(f'<line x1="{begin}" x2="{begin + width}" y1="{y(tick):.1f}" '
                           f'y2="{y(tick):.1f}"/><text x="{begin - 5}" y="{y(tick) + 4:.1f}" '
                           f'text-anchor="end">{tick:g}x</text>')
        out += [f'<text x="{x(amount):.1f}" y="{top + height + 16}" text-anchor="middle">'
                f'{short(amount)}</text>' for amount in amounts]
        out.append(f'<text x="{begin + width / 2}" y="{top + height + 34}" '
                   f'text-anchor="middle">{html.escape(what)}</text>')
        for i in range(len(titles)):
            places = [(x(amount), y(all_ratios[i])) for amount, all_ratios in points]
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[i]}" '
                       'stroke-width="1.5"/>')
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{COLOURS[i]}"/>'
                    for a, b in places]
    return "\n".join([*out, "</svg>"]) + "\n"


def short(amount):
    """A power of two, or a small number."""
    return f"{amount >> 20} Mi" if amount >= 2**20 else (
        f"{amount >> 10} Ki" if amount >= 2**10 else str(amount))
