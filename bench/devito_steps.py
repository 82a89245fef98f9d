#!/usr/bin/env python3
"""Times heat2d by Devito (pip install devito) beside Weft's: a step at a time, and tiles skewed in time.

    python bench/devito_steps.py                              100 steps of 8192x8192 pixels, all cores
    python bench/devito_steps.py --size 2048x2048 --steps 20 --runs 3

Both compute the same pixels first, and every one is compared. Then they take turns, each in a program of its own kind:
Weft by `build/release/bin/weft bench`. Prints milliseconds per step, medians and least times.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKEWED = ("blocking", {"skewing": True, "blocklevels": 1})


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="8192x8192")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--weft", default=str(ROOT / "build/release/bin/weft"))
    return parser.parse_args()


def operators(width, height):
    """Devito's operators by name, and the field that they change. The outer pixels keep their values."""
    import devito

    devito.configuration["log-level"] = "ERROR"
    devito.configuration["language"] = "openmp"
    grid = devito.Grid(shape=(height, width), extent=(height - 1, width - 1), dtype=numpy.float32)
    u = devito.TimeFunction(name="u", grid=grid, space_order=2, time_order=1)
    step = devito.Eq(u.forward, u + 0.125 * u.dy2 + 0.125 * u.dx2, subdomain=grid.interior)
    spacing = {d.spacing: 1.0 for d in grid.dimensions}
    return u, {
        "devito": devito.Operator(step, subs=spacing, opt="advanced"),
        "devito, skewed in time": devito.Operator(step, subs=spacing, opt=SKEWED),
    }


def run_devito(operator, u, image, steps):
    """The seconds that the steps take, and the result."""
    u.data[0] = image
    u.data[1] = image
    start = time.perf_counter()
    operator.apply(time_m=0, time_M=steps - 1)
    return time.perf_counter() - start, u.data[steps % 2]


def compare(weft, image, steps, got):
    with tempfile.TemporaryDirectory() as folder:
        source, result = pathlib.Path(folder) / "in.npy", pathlib.Path(folder) / "out.npy"
        numpy.save(source, image)
        subprocess.run([weft, "run", "heat2d", source, "-o", result, "--param", f"steps={steps}", "--quiet"], check=True)
        expected = numpy.load(result)
    off = numpy.abs(expected - got).max()
    if not off <= 1e-5 * numpy.abs(expected).max():
        raise SystemExit(f"pixels differ by up to {off}")


def weft_ms(options):
    run = subprocess.run(
        [options.weft, "bench", "heat2d", "--size", options.size, "--param", f"steps={options.steps}", "--runs", "1",
         "--json", "--quiet"], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["results"][0]["median_ms"] / options.steps


def main():
    options = parse()
    width, height = (int(n) for n in options.size.split("x"))
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    image = numpy.random.default_rng(1).random((height, width), dtype=numpy.float32)
    u, ways = operators(width, height)
    times = {"weft": []}
    for name, operator in ways.items():
        times[name] = []
        _, got = run_devito(operator, u, image, options.steps)
        compare(options.weft, image, options.steps, got)
    for _ in range(options.runs):
        times["weft"].append(weft_ms(options))
        for name, operator in ways.items():
            times[name].append(run_devito(operator, u, image, options.steps)[0] * 1e3 / options.steps)
    print(f"heat2d, {options.size}, {options.steps} steps, {os.cpu_count()} threads: milliseconds per step\n")
    print(f"{'':<24} {'median':>8} {'least':>8}")
    for name, of_way in times.items():
        print(f"{name:<24} {statistics.median(of_way):>8.2f} {min(of_way):>8.2f}")


if __name__ == "__main__":
    main()
