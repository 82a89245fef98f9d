"""The picture of bench/schedules: a point for each schedule, what is expected against what was measured, as SVG."""

import math

COLOURS = ["#1f6feb", "#e8864a", "#2da44e", "#a371f7", "#cf222e", "#7d7870", "#bf8700", "#0a7ea4", "#d63384", "#57606a"]
LEFT, TOP, SIDE, LEGEND = 60, 40, 420, 170  # pixels
TEXT = 'font-family="sans-serif" font-size="12" fill="#333"'


def plot(report):
    times = [s[key] for r in report["results"] for s in r["schedules"] for key in ("expected_ms", "busy_ms")]
    # Both axes are logarithmic and alike, from a power of two that is below all points.
    low, high = math.floor(math.log2(min(times)) - 0.01), math.ceil(math.log2(max(times)) + 0.01)

    def along(value):
        return SIDE * (math.log2(value) - low) / (high - low)

    def x_of(value):
        return LEFT + along(value)

    def y_of(value):
        return TOP + SIDE - along(value)

    bottom, right = TOP + SIDE, LEFT + SIDE
    parts = [f'<text x="{LEFT}" y="20" {TEXT}>time of the cores against expected ms, {report["date"][:10]}, '
             f'{report["machine"]["threads"]} threads; rank correlation '
             f'{report["rank_correlation_of_cores"]:.3f}</text>',
             f'<path d="M{LEFT} {bottom}L{right} {TOP}" stroke="#999" stroke-dasharray="4"/>']
    for power in range(low, high + 1):
        x, y = x_of(2.0**power), y_of(2.0**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{right}M{x:.1f} {TOP}V{bottom}" stroke="#ddd" fill="none"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" {TEXT}>{2.0**power:g}</text>'
                     f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" {TEXT}>{2.0**power:g}</text>')
    parts.append(f'<text x="{LEFT + SIDE / 2}" y="{bottom + 34}" text-anchor="middle" {TEXT}>expected ms</text>')
    for i, result in enumerate(report["results"]):
        colour, name = COLOURS[i % len(COLOURS)], result["application"]
        y = TOP + 10 + 20 * i
        parts.append(f'<circle cx="{right + 20}" cy="{y}" r="4" fill="{colour}"/>'
                     f'<text x="{right + 30}" y="{y + 4}" {TEXT}>{name}</text>')
        for s in result["schedules"]:
            parts.append(f'<circle cx="{x_of(s["expected_ms"]):.1f}" cy="{y_of(s["busy_ms"]):.1f}" r="3.5" '
                         f'fill="{colour}" fill-opacity="0.7"><title>{name}, {", ".join(s["names"])}: expected '
                         f'{s["expected_ms"]:.2f}, cores {s["busy_ms"]:.2f} ms</title></circle>')
    body, width, height = "\n".join(parts), right + LEGEND, bottom + 50
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')
