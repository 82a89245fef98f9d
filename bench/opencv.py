#!/usr/bin/env python3
"""How long OpenCV's own functions take, on the applications that Weft and OpenCV have in common.

    pip install numpy opencv-python-headless
    python3 bench/opencv.py [--size 2048x2048] [--runs 20] [--threads N]    times them; JSON on stdout
    python3 bench/opencv.py --radii 3,30    times means and maxima of boxes of these radii instead
    python3 bench/opencv.py --write DIR     writes random images: DIR/f32.pfm and DIR/u8.pgm
    python3 bench/opencv.py --check DIR     compares DIR/<application>.pfm or .pgm, made from these images by
                                            somebody else, with OpenCV's results; JSON on stdout

The border is the edge pixel repeated everywhere. Every output lies in memory that is there before the clock starts.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import cv2
import numpy as np

BORDER = cv2.BORDER_REPLICATE  # Weft's clamp; cv2.medianBlur has no other
BINOMIAL = np.float32([1, 4, 6, 4, 1]) / 16


def sobel(image, out, dx, dy):
    cv2.Sobel(image, cv2.CV_32F, 1, 0, dst=dx, borderType=BORDER)
    cv2.Sobel(image, cv2.CV_32F, 0, 1, dst=dy, borderType=BORDER)
    cv2.magnitude(dx, dy, magnitude=out)


# By application: the pixels; how far a result may be off, as a part of the largest value; and the calls, each of
# which has to give the same image: the fastest counts. They take the image, the output and two more images.
# For the sigma 0, OpenCV's 5x5 Gaussian kernel is the binomial one.
CASES = {
    "gaussian": ("f32", 1e-5, {
        "GaussianBlur((5, 5), 0)": lambda i, o, *_: cv2.GaussianBlur(i, (5, 5), 0, dst=o, borderType=BORDER),
        "sepFilter2D([1 4 6 4 1] / 16)":
            lambda i, o, *_: cv2.sepFilter2D(i, cv2.CV_32F, BINOMIAL, BINOMIAL, dst=o, borderType=BORDER),
    }),
    "sobel": ("f32", 1e-5, {"Sobel dx, Sobel dy, magnitude": sobel}),
    # OpenCV interpolates exp in a table.
    "bilateral": ("f32", 1e-3, {
        "bilateralFilter(13, 16, 3)": lambda i, o, *_: cv2.bilateralFilter(i, 13, 16, 3, dst=o, borderType=BORDER),
    }),
    "median": ("u8", 0, {"medianBlur(5)": lambda i, o, *_: cv2.medianBlur(i, 5, dst=o)}),
}
FILES = {"f32": ".pfm", "u8": ".pgm"}


def random_images(width, height):
    random = np.random.default_rng(1)
    bytes_ = random.integers(0, 256, (height, width), dtype=np.uint8)
    floats = random.random((height, width), dtype=np.float32) * 255
    return {"u8": bytes_, "f32": floats}


def error_of(got, expected):
    """The largest difference, as a part of the largest expected value."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        sys.exit(f"opencv.py: error: {got.dtype}{got.shape} where {expected.dtype}{expected.shape} was expected")
    off = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    worst = np.max(off) / max(1.0, float(np.max(np.abs(expected))))
    return float(worst) if np.isfinite(worst) else float("inf")


# ---- times ----------------------------------------------------------------------------------------------------------


def milliseconds(call, image, runs):
    out, dx, dy = (np.zeros_like(image) for _ in range(3))
    times = []
    for i in range(-2, runs):  # below 0: warming up
        start = time.perf_counter()
        call(image, out, dx, dy)
        seconds = time.perf_counter() - start
        if i >= 0:
            times.append(seconds * 1e3)
    return {"median_ms": statistics.median(times), "min_ms": min(times)}, out


def measure(size, runs, threads):
    cv2.setNumThreads(threads)
    width, height = size
    images = random_images(width, height)
    results = []
    for name, (pixels, tolerance, calls) in CASES.items():
        timed, first = [], None
        for call_name, call in calls.items():
            times, out = milliseconds(call, images[pixels], runs)
            first = out if first is None else first
            if error_of(out, first) > tolerance:
                sys.exit(f"opencv.py: error: {name}: {call_name} gives another image than {next(iter(calls))}")
            timed.append({"call": call_name, **times})
        timed.sort(key=lambda t: t["median_ms"])
        results.append({"application": name, "pixels": pixels, **timed[0], "slower": timed[1:]})
    return {"opencv": cv2.__version__, "threads": cv2.getNumThreads(), "width": width, "height": height,
            "runs": runs, "results": results}


# OpenCV has each of these in one way.
WINDOWS = {
    "mean": lambda i, o, side: cv2.boxFilter(i, -1, (side, side), dst=o, borderType=BORDER),
    "maximum": lambda i, o, side: cv2.dilate(i, np.ones((side, side), np.uint8), dst=o, borderType=BORDER),
}


def measure_windows(size, runs, threads, radii):
    cv2.setNumThreads(threads)
    results = []
    for pixels, image in random_images(*size).items():
        for operation, call in WINDOWS.items():
            for radius in radii:
                times, _ = milliseconds(lambda i, o, *_: call(i, o, 2 * radius + 1), image, runs)
                results.append({"operation": operation, "pixels": pixels, "radius": radius, **times})
    return {"opencv": cv2.__version__, "threads": cv2.getNumThreads(), "runs": runs, "results": results}


# ---- agreement ------------------------------------------------------------------------------------------------------


def write_images(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for pixels, image in random_images(131, 67).items():
        height, width = image.shape
        # PFM holds the lowest row first; the -1 says that its floats are little-endian.
        kind, limit, rows = ("Pf", -1.0, image[::-1].astype("<f4")) if pixels == "f32" else ("P5", 255, image)
        header = f"{kind}\n{width} {height}\n{limit}\n".encode()
        (folder / (pixels + FILES[pixels])).write_bytes(header + rows.tobytes())


def read_image(path):
    kind, size, limit, data = path.read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    if kind == b"Pf":
        floats = np.frombuffer(data, "<f4" if float(limit) < 0 else ">f4").reshape(height, width)
        return floats[::-1].astype(np.float32)
    if kind != b"P5" or limit != b"255":
        sys.exit(f"opencv.py: error: {path} is no grey PFM or 8-bit PGM")
    return np.frombuffer(data, np.uint8).reshape(height, width)


def check(folder):
    results = []
    for name, (pixels, tolerance, calls) in CASES.items():
        image = np.ascontiguousarray(read_image(folder / (pixels + FILES[pixels])))
        got = read_image(folder / (name + FILES[pixels]))
        for call_name, call in calls.items():
            out, dx, dy = (np.zeros_like(image) for _ in range(3))
            call(image, out, dx, dy)
            error = error_of(got, out)
            results.append({"application": name, "call": call_name, "error": error, "tolerance": tolerance,
                            "agrees": error <= tolerance})
    return {"opencv": cv2.__version__, "results": results}


def size_of(text):
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) > 0 and int(height) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form WIDTHxHEIGHT")
    return int(width), int(height)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=size_of, default=(2048, 2048), help="WIDTHxHEIGHT")
    parser.add_argument("--runs", type=int, default=20, help="how often each is timed; the median counts")
    parser.add_argument("--threads", type=int, default=cv2.getNumberOfCPUs(), help="all cores unless said")
    parser.add_argument("--radii", type=lambda text: [int(radius) for radius in text.split(",")], metavar="R,R")
    parser.add_argument("--write", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    if options.runs < 1 or options.threads < 1:
        parser.error("--runs and --threads have to be at least 1")
    if options.write:
        write_images(options.write)
        return
    if options.radii:
        print(json.dumps(measure_windows(options.size, options.runs, options.threads, options.radii), indent=2))
        return
    report = check(options.check) if options.check else measure(options.size, options.runs, options.threads)
    print(json.dumps(report, indent=2))
    if options.check and not all(r["agrees"] for r in report["results"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
