"""The picture of bench/halide: bars of times as multiples of a plain copy, as SVG."""

import math

COLOURS = ["#1f6feb", "#e8864a", "#b6b0a6", "#7d7870", "#3a9a5b"]  # Weft, then Halide's schedules
BAR, GAP, LEFT, TOP, HEIGHT = 16, 26, 56, 46, 300  # pixels
TEXT = 'font-family="sans-serif" font-size="12" fill="#333"'


def plot(report):
    schedules = list(report["halide"]["schedules"])
    names = ["Weft", *schedules]
    groups = []
    for r in report["results"]:
        times = [r["weft_ms"], *(r["halide"].get(name, {}).get("ms") for name in schedules)]
        groups.append((r["application"], [ms and ms / r["copy_ms"] for ms in times]))
    values = [value for _, bars in groups for value in bars if value]
    # Logarithmic, from a power of two that is below all bars.
    low, high = math.floor(math.log2(min(values)) - 0.01), math.ceil(math.log2(max(values)))

    def level(value):
        return TOP + HEIGHT * (1 - (math.log2(value) - low) / (high - low))

    group = BAR * len(names) + GAP
    width, bottom = LEFT + group * len(groups) + GAP, TOP + HEIGHT
    parts = [f'<text x="{LEFT}" y="16" {TEXT}>time as a multiple of a plain copy, {report["date"][:10]}, '
             f'{report["machine"]["threads"]} threads; lower is better</text>']
    for i, name in enumerate(names):
        x = LEFT + 150 * i
        parts.append(f'<rect x="{x}" y="26" width="10" height="10" fill="{COLOURS[i]}"/>'
                     f'<text x="{x + 15}" y="35" {TEXT}>{name}</text>')
    for power in range(low, high + 1):
        y = level(2.0**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{width}" stroke="{"#555" if power == 0 else "#ddd"}"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" {TEXT}>{2.0**power:g}</text>')
    for g, (name, bars) in enumerate(groups):
        left = LEFT + GAP / 2 + g * group
        for i, value in enumerate(bars):
            x, y = left + i * BAR, level(value) if value else bottom
            if value:
                parts.append(f'<rect x="{x}" y="{y:.1f}" width="{BAR - 2}" height="{bottom - y:.1f}" '
                             f'fill="{COLOURS[i]}"><title>{name}, {names[i]}: {value:.2f}</title></rect>')
            else:
                parts.append(f'<text x="{x}" y="{bottom - 4}" {TEXT}>×</text>')
        x, y = left + group / 2, bottom + 14
        parts.append(f'<text x="{x}" y="{y}" text-anchor="end" transform="rotate(-30 {x} {y})" {TEXT}>{name}</text>')
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 80}" '
            f'viewBox="0 0 {width} {bottom + 80}">\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')
