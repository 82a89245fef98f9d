#!/usr/bin/env python3
"""How many pixels of iterated stencils a GPU should update in a second, without one: the bounds of `weft explain`, as a table.

    bench/step_rates.py [BOARD…]        unless said, a100 h100 h200

A rate is pixels * steps / the time of all kernels of the steps. The roof of plain sweeps is that of one read and one write of memory for each
update, at what a copy reaches on the board. Needs NVRTC, which pip installs: nvidia-cuda-nvrtc.
"""
import json
import pathlib
import subprocess
import sys

WEFT = pathlib.Path(__file__).parent.parent / "build/release/bin/weft"
STEPS = 240  # a multiple of all numbers of steps that a kernel takes
STENCILS = [("j2d5pt", (16384, 16384)), ("star2d2r", (16384, 16384)), ("box2d1r", (16384, 16384)),
            ("j3d7pt", (512, 512, 512)), ("star3d1r", (512, 512, 512))]


def explained(stencil, size, precision, board):
    arguments = [WEFT, "explain", stencil, "--json", "--machine", board, "--size", "x".join(map(str, size)),
                 "--param", f"steps={STEPS}", "--param", f"precision={precision}"]
    return json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def row(stencil, size, precision, board):
    what = explained(stencil, size, precision, board)
    # The kernel that copies the image into the field is not of the steps.
    kernels = [k for k in what["predicted"]["kernels"] if k["launches"] > 1]
    at_once = what["schedule"]["kernels"][stencil]["steps"]
    seconds = sum(k["seconds"] for k in kernels)
    longest = max(kernels, key=lambda k: k["seconds"])
    pixels = 1
    for extent in size:
        pixels *= extent
    scalar = 8 if precision == "double" else 4
    copied = what["board"]["bandwidth_gb_s"] * what["board"]["copy_fraction"]["value"]
    rate, roof = pixels * STEPS / seconds / 1e9, copied / (2 * scalar)
    bounds = longest["bounds"]
    then = bounds[longest["then"]] / bounds[longest["bound_by"]]
    return (f"{stencil:<10}{'x'.join(map(str, size)):<13}{precision:<8}{board:<6}{at_once:>7}{rate:>8.0f}{roof:>7.0f}"
            f"{rate / roof:>7.1f}  {longest['bound_by']:<9}{longest['then']} {100 * then:.0f} %")


def main():
    boards = sys.argv[1:] or ["a100", "h100", "h200"]
    print("stencil   size         pixels  board  at once  GCells/s   roof  times  bound by  then")
    for stencil, size in STENCILS:
        for precision in ("single", "double"):
            for board in boards:
                print(row(stencil, size, precision, board), flush=True)


if __name__ == "__main__":
    main()
