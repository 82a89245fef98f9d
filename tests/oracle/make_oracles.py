#!/usr/bin/env python3
"""Makes the oracle files in data/: what SciPy, scikit-image and OpenCV say that an image operator means.

    pip install numpy scipy scikit-image pillow opencv-python-headless
    python3 make_oracles.py

Every expected image is computed at least twice, by a library and by a plain NumPy formula (or by the
formula in float64 and in float32 where no library has the operator). The script stops if two of them
disagree by more than the tolerance that it writes down. Running it twice gives the same bytes.
"""
import json
import pathlib
import shutil
import sys
import zlib

import cv2
import numpy as np
import scipy
import scipy.ndimage as ndi
import skimage
from skimage.filters import sobel

import resampling_cases

DATA = pathlib.Path(__file__).resolve().parent / "data"
BORDERS = ["clamp", "mirror", "mirror101", "repeat", "constant"]
PAD = dict(clamp="edge", mirror="symmetric", mirror101="reflect", repeat="wrap", constant="constant")
SCIPY = dict(clamp="nearest", mirror="reflect", mirror101="mirror", repeat="wrap", constant="constant")
CV = dict(clamp=cv2.BORDER_REPLICATE, mirror=cv2.BORDER_REFLECT, mirror101=cv2.BORDER_REFLECT_101)
OUTSIDE = 37  # the value of constant borders; not 0, so that a forgotten value shows

with_scipy = f"scipy.ndimage.{{}} {scipy.__version__}"
with_skimage = f"skimage.filters.{{}} {skimage.__version__}"
with_cv = f"cv2.{{}} {cv2.__version__}"
with_numpy = f"numpy formula ({np.__version__})"

cases = []


# ---- images --------------------------------------------------------------------------------------

def noise(name, shape, dtype=np.uint8):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if dtype == np.float32:
        return (rng.random(shape) * 255).astype(np.float32)
    return rng.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def extremes(name, shape):
    return np.where(noise(name, shape) < 128, 0, 255).astype(np.uint8)


def step(shape):
    y, x = np.mgrid[:shape[0], :shape[1]]
    return np.where(2 * x + y < shape[1] + 5, 20 + 3 * y, 230 - 2 * x).astype(np.uint8)


def scene(shape):
    """A gradient, a bright disc, a dark box and weak noise."""
    y, x = np.mgrid[:shape[0], :shape[1]]
    image = 40 + 1.5 * x + y
    image[(x - 20) ** 2 + (y - 18) ** 2 < 130] = 240
    image[28:42, 34:56] = 12
    return np.clip(image + noise("scene", shape) % 9, 0, 255).astype(np.uint8)


def dark_corner(rgb):
    """Black where the a-trous stages reach nothing else, so that X = 0 occurs."""
    rgb = rgb.copy()
    rgb[:8, :8] = 0
    return rgb


def moved(image):
    """By (3, -2), with a strip that moves the other way and some pixels that changed."""
    image = np.roll(image, (-2, 3), axis=(0, 1))
    image[10:15] = np.roll(image[10:15], -7, axis=1)
    return np.where(noise("moved", image.shape) < 20, 255 - image, image).astype(np.uint8)


IMAGES = {
    "noise_u8": noise("noise_u8", (17, 23)),
    "extremes_u8": extremes("extremes_u8", (17, 23)),
    "step_u8": step((17, 23)),
    "scene_u8": scene((48, 64)),
    "5x4_u8": noise("5x4_u8", (4, 5)),
    "1x1_u8": noise("1x1_u8", (1, 1)),
    "1x7_u8": noise("1x7_u8", (7, 1)),
    "7x1_u8": noise("7x1_u8", (1, 7)),
    "rgb_u8": noise("rgb_u8", (17, 23, 3)),
    "rgb_5x4_u8": noise("rgb_5x4_u8", (4, 5, 3)),
    "rgb_extremes_u8": extremes("rgb_extremes_u8", (17, 23, 3)),
    "rgba_u8": noise("rgba_u8", (17, 23, 4)),
    "noise_u16": noise("noise_u16", (17, 23), np.uint16),
    "noise_f32": noise("noise_f32", (17, 23), np.float32),
    "extremes_f32": extremes("extremes_f32", (17, 23)).astype(np.float32),
    "scene_f32": scene((48, 64)).astype(np.float32) + np.float32(0.25),
    "5x4_f32": noise("5x4_f32", (4, 5), np.float32),
    "1x1_f32": noise("1x1_f32", (1, 1), np.float32),
    "1x7_f32": noise("1x7_f32", (7, 1), np.float32),
    "7x1_f32": noise("7x1_f32", (1, 7), np.float32),
    "rgb_f32": noise("rgb_f32", (17, 23, 3), np.float32),
    "texture_u8": noise("texture_u8", (24, 31)),
    "moved_u8": moved(noise("texture_u8", (24, 31))),
    "rgb_dark_f32": dark_corner(noise("rgb_dark_f32", (17, 23, 3), np.float32)),
}
SMALL = ["5x4", "1x1", "1x7", "7x1"]


# ---- formulas ------------------------------------------------------------------------------------

def windows(image, height, width, border):
    """The window of every pixel: shape (h, w, height, width), or (h, w, c, height, width)."""
    reach = [(height // 2,) * 2, (width // 2,) * 2] + [(0, 0)] * (image.ndim - 2)
    value = {"constant_values": OUTSIDE} if border == "constant" else {}
    padded = np.pad(image, reach, mode=PAD[border], **value)
    return np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(0, 1))


def correlated(image, mask, border):
    return (windows(image, *mask.shape, border) * mask).sum((-2, -1), dtype=np.result_type(image, mask))


def separable(column, row=None):
    return np.outer(column, column if row is None else row)


def rounded(image):
    """saturate<u8>: half to even, then clamped."""
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


B3 = separable([1, 2, 1]) / 16
BINOMIAL = {3: B3, 5: separable([1, 4, 6, 4, 1]) / 256, 7: separable([1, 6, 15, 20, 15, 6, 1]) / 4096}
SOBEL = separable([1, 2, 1], [-1, 0, 1])
PREWITT = separable([1, 1, 1], [-1, 0, 1])
LAPLACE = np.ones((5, 5), np.int32) - 25 * separable([0, 0, 1, 0, 0])


def bilateral(image, border, size, domain, sigma_d, sigma_r):
    taps = windows(image, size, size, border)
    y, x = np.mgrid[:size, :size] - size // 2
    closeness = np.exp(-(x * x + y * y) / (2 * sigma_d ** 2)).astype(image.dtype)
    if domain == "disc":
        closeness = np.where(x * x + y * y <= (size // 2) ** 2, closeness, 0).astype(image.dtype)
    weight = closeness * np.exp(-(taps - image[..., None, None]) ** 2 / (2 * sigma_r ** 2))
    return (weight * taps).sum((-2, -1)) / weight.sum((-2, -1))


def structure(image, border):
    """gx, gy, gxy of harris and shitomasi; the border holds for the products too."""
    dx = correlated(image, (PREWITT / 6).astype(image.dtype), border)
    dy = correlated(image, (PREWITT.T / 6).astype(image.dtype), border)
    return [correlated(product, B3.astype(image.dtype), border) for product in (dx * dx, dy * dy, dx * dy)]


def harris(image, border, k):
    gx, gy, gxy = structure(image, border)
    return gx * gy - gxy * gxy - k * (gx + gy) ** 2


def shitomasi(image, border):
    gx, gy, gxy = structure(image, border)
    return (gx + gy - np.sqrt((gx - gy) ** 2 + 4 * gxy * gxy)) / 2


def luminance(image, weights=(.299, .587, .114)):
    return sum(weight * image[:, :, lane] for lane, weight in enumerate(weights))


def unsharp(rgb, border):
    taps = np.moveaxis(windows(rgb, 3, 3, border), 2, -1)
    grey = luminance(rgb)
    grey_taps = sum(weight * taps[..., lane] for lane, weight in enumerate((.299, .587, .114)))
    blur = (grey_taps * B3.astype(rgb.dtype)).sum((-2, -1))
    ratio = (2 * grey - blur) / np.maximum(grey, rgb.dtype.type(0.01))
    return rgb * ratio[:, :, None]


def enhance(image, border, gain, mean):
    taps = windows(image, 3, 3, border)
    if mean == "arithmetic":
        average = taps.mean((-2, -1))
    else:
        average = np.maximum(0, np.exp(np.log(taps + 1).mean((-2, -1))) - 1)
    return 255 * (average * gain / 255) ** 0.6


def atrous(rgb, border, spacing):
    size = 2 * spacing + 1
    taps = windows(rgb, size, size, border)[..., ::spacing, ::spacing]
    kernel = np.array([[.057118, .124758, .057118], [.124758, .272496, .124758], [.057118, .124758, .057118]],
                      rgb.dtype)
    distance = (((taps - rgb[..., None, None]) / 255) ** 2).sum(2)
    weight = kernel * np.exp(-distance)
    return (weight[:, :, None] * taps).sum((-2, -1)) / weight.sum((-2, -1))[:, :, None]


def scoto(rgb):
    to_xyz = np.array([[.5149, .3244, .1607], [.2654, .6704, .0642], [.0248, .1248, .8504]], rgb.dtype)
    back = np.array([[2.562263, -1.166107, -.396157], [-1.021558, 1.977828, .043730],
                     [.075196, -.256248, 1.181053]], rgb.dtype)
    x, y, z = np.moveaxis(rgb @ to_xyz.T, 2, 0)
    y = y / 3
    black = x == 0
    v = 0.4468 * y * (1.33 * (1 + (y + z) / np.where(black, 1, x)) - 1.68)
    v = np.where(black, 0, v).astype(rgb.dtype)
    return np.clip(np.stack([v, v, 2 * v], 2) @ back.T, 0, 255)


def night(rgb, border, levels):
    for level in range(levels):
        rgb = atrous(rgb, border, 2 ** level)
    return scoto(rgb)


def disc(radius):
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    return (x * x + y * y <= radius * radius).astype(np.float64)


def brighter(image, border, size):
    """Which of the neighbours of each pixel, row by row, are brighter: shape (h, w, size * size - 1)."""
    taps = windows(image, size, size, border).reshape(*image.shape, size * size)
    return np.delete(taps, size * size // 2, axis=-1) > image[..., None]


def flow_by_signatures(first, second, border, size):
    """Packs the census into integers; the first least distance of all offsets."""
    bits = 1 << np.arange(size * size - 1, dtype=np.uint32)
    before, after = ((brighter(i, border, size) * bits).sum(-1, dtype=np.uint32) for i in (first, second))
    distances = np.bitwise_count(before[..., None, None] ^ windows(after, 15, 15, border))
    best = distances.reshape(*first.shape, 225).argmin(-1)
    return np.stack([best % 15 - 7, best // 15 - 7], -1).astype(np.int8)


def flow_by_comparison(first, second, border, size):
    """Counts the neighbours that differ, offset by offset, and keeps what is strictly nearer."""
    before, after = brighter(first, border, size), brighter(second, border, size)
    value = {"constant_values": False} if border == "constant" else {}
    after = np.pad(after, ((7, 7), (7, 7), (0, 0)), mode=PAD[border], **value)
    if border == "constant":  # outside, the signature itself is the value
        outside = np.arange(size * size - 1)
        after[:7] = after[-7:] = after[:, :7] = after[:, -7:] = OUTSIDE >> outside & 1
    height, width = first.shape
    least, flow = np.full(first.shape, 99), np.zeros((*first.shape, 2), np.int8)
    for dy in range(-7, 8):
        for dx in range(-7, 8):
            there = after[7 + dy:7 + dy + height, 7 + dx:7 + dx + width]
            distance = (before != there).sum(-1)
            nearer = distance < least
            least, flow[nearer] = np.where(nearer, distance, least), (dx, dy)
    return flow


def mandelbrot(width, height):
    """All pixels at once, in float32, from left to right."""
    f = np.float32
    y, x = np.mgrid[:height, :width].astype(f)
    cx = f(-2.5) + f(3.5) * (x + f(.5)) / f(width)
    cy = f(-1.25) + f(2.5) * (y + f(.5)) / f(height)
    zx, zy, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(64):
            zx, zy = zx * zx - zy * zy + cx, f(2) * zx * zy + cy
            count += zx * zx + zy * zy <= 4
    return count


def mandelbrot_pixel(x, y, width, height):
    """One pixel, until it escapes."""
    f = np.float32
    c = f(-2.5) + f(3.5) * (f(x) + f(.5)) / f(width), f(-1.25) + f(2.5) * (f(y) + f(.5)) / f(height)
    zx = zy = f(0)
    for step in range(64):
        zx, zy = zx * zx - zy * zy + c[0], f(2) * zx * zy + c[1]
        if zx * zx + zy * zy > 4:
            return step
    return 64


# ---- cases ---------------------------------------------------------------------------------------

def agree(name, a, b, tolerance):
    worst = np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max()
    if not worst <= tolerance:
        sys.exit(f"{name}: two sources differ by {worst}, allowed are {tolerance}")


def add(op, image, expected, source, *, border=None, params=None, tolerance=0, detail="", note="", second=None):
    """`image` is the name of the input, or None; `second` that of a second one."""
    images = [i for i in (image, second) if i]
    name = "_".join(filter(None, [op, detail, image, border]))
    expected = np.ascontiguousarray(expected)
    if expected.dtype == np.float64:
        expected = expected.astype(np.float32)
    np.save(DATA / f"{name}.npy", expected)
    case = dict(name=name, op=op, params=params or {}, border=border,
                border_value=OUTSIDE if border == "constant" else None, input=[f"{i}.npy" for i in images],
                expected=f"{name}.npy", tolerance=tolerance, source=source, note=note)
    assert name not in (c["name"] for c in cases) and name not in IMAGES
    cases.append(case)


def add_rounded(op, image, exact, source, *, dyadic=False, **rest):
    """A u8 result: exact unless a float error can decide a rounding."""
    inside = exact[(exact > -1) & (exact < 256)]
    distance = np.abs(inside - np.floor(inside) - 0.5).min(initial=0.5)
    if dyadic:
        tolerance, note = 0, "exact: every value is a dyadic fraction, also in float32; ties go to even"
    elif distance > 1e-3:
        tolerance, note = 0, "exact: no value within 1e-3 of a rounding tie"
    else:
        tolerance, note = 1, "1: a value lies within 1e-3 of a rounding tie"
    add(op, image, rounded(exact), source, tolerance=tolerance, note=note, **rest)


def add_formula(op, image, formula, border, tolerance, source=with_numpy, **rest):
    """A float result without a library: float32 arithmetic must stay well within the tolerance."""
    exact = formula(IMAGES[image].astype(np.float64), border)
    single = formula(IMAGES[image].astype(np.float32), border)
    assert single.dtype == np.float32, op
    agree(f"{op} {image} {border}", exact, single, tolerance / 2)
    add(op, image, exact, source, border=border, tolerance=tolerance, **rest)


def correlate_case(image, mask, border, detail):
    pixels = IMAGES[image]
    integer = pixels.dtype != np.float32
    wide = np.int32 if integer else np.float64
    expected = ndi.correlate(pixels.astype(wide), mask.astype(wide), mode=SCIPY[border], cval=OUTSIDE)
    bound = 0 if integer else float(f"{2e-6 * 255 * np.abs(mask).sum():.1e}")
    name = f"correlate {detail} {image} {border}"
    agree(name, expected, correlated(pixels.astype(wide), mask.astype(wide), border), bound / 100)
    if not integer:
        agree(name + " f32", expected, correlated(pixels, mask.astype(np.float32), border), bound / 2)
    if border in CV:
        of_cv = cv2.filter2D(pixels.astype(np.float64), -1, mask.astype(np.float64), borderType=CV[border])
        agree(name + " cv2", expected, of_cv, 1e-6)
    add("correlate", image, expected, with_scipy.format("correlate"), border=border, detail=detail,
        params={"mask": mask.tolist(), "arithmetic": "i32" if integer else "f32"}, tolerance=bound)


def correlate_cases():
    def mask_of(width, height, dtype):
        rng = np.random.default_rng(100 * width + height)
        if dtype == "f32":
            return rng.uniform(-2, 2, (height, width)).astype(np.float32)
        return rng.integers(-9, 10, (height, width)).astype(np.int32)

    for border in BORDERS:
        for kind, dtype in (("u8", "i32"), ("f32", "f32")):
            for width, height in ((3, 3), (5, 5), (7, 1), (1, 7), (3, 5)):
                correlate_case(f"noise_{kind}", mask_of(width, height, dtype), border, f"{width}x{height}")
            for size in (7, 9):  # windows larger than the image: indices overshoot more than once
                for image in SMALL:
                    correlate_case(f"{image}_{kind}", mask_of(size, size, dtype), border, f"{size}x{size}")
        correlate_case("noise_u16", mask_of(3, 3, "i32"), border, "3x3")
    correlate_case("extremes_u8", mask_of(5, 5, "i32"), "mirror", "5x5")
    correlate_case("scene_u8", mask_of(5, 5, "i32"), "mirror101", "5x5")


def gaussian_cases():
    def one(image, size, border):
        pixels, mask = IMAGES[image].astype(np.float64), BINOMIAL[size]
        name = f"gaussian {size} {image} {border}"
        exact = ndi.correlate(pixels, mask, mode=SCIPY[border], cval=OUTSIDE)
        agree(name, exact, correlated(pixels, mask, border), 1e-9)
        source = with_scipy.format("correlate")
        if border in CV and size < 7:  # cv2's 7 is another kernel
            of_cv = cv2.GaussianBlur(pixels, (size, size), 0, borderType=CV[border])
            agree(name + " cv2", exact, of_cv, 1e-9)
            source += " = " + with_cv.format("GaussianBlur")
        rest = dict(border=border, detail=f"{size}", params={"size": size})
        if IMAGES[image].dtype == np.uint8:
            add_rounded("gaussian", image, exact, with_scipy.format("correlate"), dyadic=True, **rest)
        else:
            add("gaussian", image, exact, source, tolerance=1e-3, **rest)

    for border in BORDERS:
        for kind in ("u8", "f32"):
            for size in (3, 5):
                one(f"noise_{kind}", size, border)
            one(f"noise_{kind}", 7, border)
            for image in SMALL:
                one(f"{image}_{kind}", 5, border)
    for image in ("extremes_u8", "step_u8", "scene_u8", "scene_f32"):
        one(image, 5, "clamp")


def footprint_case(op, image, border, size=5):
    """box, dilate, erode, median."""
    pixels = IMAGES[image]
    shape = (size, size) + (1,) * (pixels.ndim - 2)
    taps = windows(pixels, size, size, border)
    name = f"{op} {image} {border}"
    rest = dict(border=border, detail=f"{size}" if op == "median" else "",
                params={"size": size} if op == "median" else {})
    kw = dict(mode=SCIPY[border], cval=OUTSIDE)
    ones = np.ones((size, size), np.uint8)
    if op == "box":
        exact = ndi.uniform_filter(pixels.astype(np.float64), shape, **kw)
        agree(name, exact, taps.mean((-2, -1), dtype=np.float64), 1e-9)
        source = with_scipy.format("uniform_filter")
        if border in CV:
            of_cv = cv2.blur(pixels.astype(np.float64), (size, size), borderType=CV[border])
            agree(name + " cv2", exact, of_cv.reshape(pixels.shape), 1e-9)
            source += " = " + with_cv.format("blur")
        if pixels.dtype == np.uint8:
            add_rounded(op, image, exact, source, **rest)
        else:
            add(op, image, exact, source, tolerance=1e-3, **rest)
        return
    if op == "median":
        expected, source = ndi.median_filter(pixels, shape, **kw), with_scipy.format("median_filter")
        agree(name, expected, np.median(taps, axis=(-2, -1)), 0)
        if border == "clamp":
            agree(name + " cv2", expected, cv2.medianBlur(pixels, size).reshape(pixels.shape), 0)
            source += " = " + with_cv.format("medianBlur")
    else:
        function, reduce, of_cv = {"dilate": ("maximum_filter", np.max, cv2.dilate),
                                   "erode": ("minimum_filter", np.min, cv2.erode)}[op]
        expected, source = getattr(ndi, function)(pixels, shape, **kw), with_scipy.format(function)
        grey = ndi.grey_dilation if op == "dilate" else ndi.grey_erosion
        agree(name, expected, reduce(taps, axis=(-2, -1)), 0)
        agree(name + " grey", expected, grey(pixels, shape, **kw), 0)
        if border in CV:
            eroded_or_dilated = of_cv(pixels, ones, borderType=CV[border])
            agree(name + " cv2", expected, eroded_or_dilated.reshape(pixels.shape), 0)
            source += " = " + with_cv.format(op)
    add(op, image, expected, source, **rest)


def footprint_cases():
    for op in ("box", "dilate", "erode", "median"):
        for border in BORDERS:
            for image in ("noise_u8", "5x4_u8", "1x7_u8", "rgb_u8", "noise_f32"):
                footprint_case(op, image, border)
        for image in ("1x1_u8", "7x1_u8", "extremes_u8", "step_u8", "rgba_u8", "rgb_f32", "5x4_f32"):
            footprint_case(op, image, "mirror101")
        footprint_case(op, "scene_u8", "clamp")
    for border in BORDERS:
        for image in ("noise_u8", "5x4_u8", "noise_f32", "rgb_u8"):
            footprint_case("median", image, border, 3)


def edge_cases():
    def laplace(image, border):
        pixels = IMAGES[image].astype(np.int32)
        expected = ndi.correlate(pixels, LAPLACE, mode=SCIPY[border], cval=OUTSIDE)
        agree("laplace", expected, correlated(pixels, LAPLACE, border), 0)
        add("laplace", image, np.clip(expected + 128, 0, 255).astype(np.uint8),
            with_scipy.format("correlate"), border=border, note="exact: integers")

    def gradient(op, image, border):
        pixels = IMAGES[image].astype(np.float64)
        mask = SOBEL if op == "sobel" else PREWITT
        dx, dy = (ndi.correlate(pixels, m, mode=SCIPY[border], cval=OUTSIDE) for m in (mask, mask.T))
        agree(op, dx, correlated(pixels, mask, border), 1e-9)
        source = with_scipy.format("correlate")
        if border != "constant":  # SciPy's two passes each put the value outside: another meaning
            for axis, expected in ((1, dx), (0, dy)):
                agree(op + " scipy", expected, getattr(ndi, op)(pixels, axis, mode=SCIPY[border]), 1e-9)
            source = with_scipy.format(op)
        if border in CV and op == "sobel":
            agree("sobel cv2", dx, cv2.Sobel(pixels, -1, 1, 0, ksize=3, borderType=CV[border]), 1e-9)
            agree("sobel cv2", dy, cv2.Sobel(pixels, -1, 0, 1, ksize=3, borderType=CV[border]), 1e-9)
            # scikit-image divides by 4
            agree("sobel skimage", dx, 4 * sobel(pixels, axis=1, mode=SCIPY[border]), 1e-9)
            agree("sobel skimage", dy, 4 * sobel(pixels, axis=0, mode=SCIPY[border]), 1e-9)
            source += " = " + with_cv.format("Sobel") + " = 4 * " + with_skimage.format("sobel")
        for output, expected in (("dx", dx), ("dy", dy), ("mag", np.hypot(dx, dy))):
            add(op, image, expected, source, border=border, detail=output, params={"output": output},
                tolerance=2e-3)

    for border in BORDERS:
        for image in ("noise_u8", "extremes_u8", "5x4_u8", "1x1_u8", "1x7_u8"):
            laplace(image, border)
        for image in ("noise_f32", "5x4_f32"):
            gradient("sobel", image, border)
        gradient("prewitt", "noise_f32", border)
    laplace("scene_u8", "clamp")
    gradient("sobel", "scene_f32", "clamp")
    gradient("sobel", "1x7_f32", "mirror101")
    gradient("prewitt", "1x1_f32", "clamp")


def bilateral_cases():
    def one(image, border, size=13, domain="box", sigma_d=3.0, sigma_r=16.0, source=with_numpy, **rest):
        params = dict(size=size, domain=domain, sigma_d=sigma_d, sigma_r=sigma_r)
        add_formula("bilateral", image, lambda i, b: bilateral(i, b, **params), border, 2e-3, source,
                    params=params, **rest)

    for border in BORDERS:
        one("noise_f32", border)
        one("5x4_f32", border)
    one("scene_f32", "clamp")
    one("scene_f32", "mirror101")
    one("1x1_f32", "mirror101")
    one("1x7_f32", "repeat")

    disc = dict(size=9, domain="disc", sigma_d=3.0, sigma_r=40.0)
    pixels = IMAGES["scene_f32"]
    of_cv = cv2.bilateralFilter(pixels, 9, 40.0, 3.0, borderType=cv2.BORDER_REPLICATE)
    agree("bilateral disc", of_cv, bilateral(pixels.astype(np.float64), "clamp", **disc), 1e-3 * 255)
    add("bilateral", "scene_f32", of_cv, with_cv.format("bilateralFilter"), border="clamp", params=disc,
        detail="disc9", tolerance=round(1e-3 * 255, 3), note="cv2 interpolates exp in a table")


def corner_cases():
    def one(op, image, border):
        gx, gy, gxy = structure(IMAGES[image].astype(np.float64), border)
        if op == "harris":
            params, formula = {"k": 0.04}, lambda i, b: harris(i, b, 0.04)
            scale = (gx * gy + gxy ** 2 + 0.04 * (gx + gy) ** 2).max()
        else:
            params, formula, scale = {}, shitomasi, (gx + gy).max()
        tolerance = max(float(f"{4e-6 * scale:.1e}"), 1e-4)
        add_formula(op, image, formula, border, tolerance, params=params,
                    note="4e-6 of the largest sum of magnitudes")

    for op in ("harris", "shitomasi"):
        for border in BORDERS:
            one(op, "noise_f32", border)
            one(op, "5x4_f32", border)
        for image in ("scene_f32", "1x1_f32", "1x7_f32"):
            one(op, image, "clamp")


def colour_cases():
    for border in BORDERS:
        for image in ("rgb_u8", "rgb_5x4_u8", "rgb_extremes_u8"):
            exact = unsharp(IMAGES[image].astype(np.float64), border)
            single = unsharp(IMAGES[image].astype(np.float32), border)
            add_rounded("unsharp", image, exact, with_numpy, border=border)
            agree("unsharp", rounded(exact), rounded(single), cases[-1]["tolerance"])
        for mean in ("geometric", "arithmetic"):
            for image in ("noise_f32", "extremes_f32", "5x4_f32"):
                add_formula("enhance", image, lambda i, b: enhance(i, b, 2, mean), border, 1e-2,
                            params={"gain": 2, "mean": mean}, detail=mean)
        add_formula("night", "rgb_dark_f32", lambda i, b: night(i, b, 2), border, 1e-2, params={"levels": 2},
                    detail="2")

    # hundredths are exact in int32, so ties are known: one image has some, the other none
    weights = np.array([30, 59, 11, 0])
    tied = (IMAGES["rgba_u8"].astype(np.int32) @ weights) % 100 == 50
    IMAGES["rgba_untied_u8"] = IMAGES["rgba_u8"] + tied[..., None] * np.array([1, 0, 0, 0], np.uint8)
    for image in ("rgba_u8", "rgba_untied_u8"):
        add_rounded("color_convert", image, (IMAGES[image].astype(np.int32) @ weights) / 100, with_numpy)

    grey = cv2.cvtColor(IMAGES["rgb_f32"], cv2.COLOR_RGB2GRAY)
    agree("luminance", grey, luminance(IMAGES["rgb_f32"].astype(np.float64)), 5e-4)
    add("luminance", "rgb_f32", grey, with_cv.format("cvtColor"), tolerance=1e-3)


def cast_cases():
    halves = np.arange(-8, 520, dtype=np.float32) / 2
    special = np.array([-1e10, -256, -1, -0.5, -0.0, 0.49999997, 0.50000006, 254.49998, 254.5, 254.50002,
                        255.49998, 255.5, 256, 65536, 2147483648, 1e10, 3e38, -3e38, np.inf, -np.inf,
                        1e-45, 1 / 3], np.float32)
    ramp = np.concatenate([halves, special])
    IMAGES["ramp_f32"] = ramp.reshape(22, -1)
    add("saturate_u8", "ramp_f32", rounded(IMAGES["ramp_f32"]), "numpy rint, clip",
        note="half to even, then clamped")
    truncated = np.clip(np.trunc(IMAGES["ramp_f32"]), 0, 255).astype(np.uint8)
    add("cast_u8", "ramp_f32", truncated, "numpy trunc, clip", note="truncated, then clamped")


def sample_cases():
    for border in BORDERS:
        for image in ("rgb_f32", "rgb_dark_f32"):
            pixels, mask = IMAGES[image].astype(np.float64), disc(8) / 197
            expected = ndi.correlate(pixels, mask[..., None], mode=SCIPY[border], cval=OUTSIDE)
            taps = windows(pixels, 17, 17, border)
            agree("bokeh", expected, (taps * mask).sum((-2, -1)), 1e-9)
            add("bokeh", image, expected, with_scipy.format("correlate"), border=border, tolerance=1e-3)

        for first, second in (("texture_u8", "moved_u8"), ("noise_u8", "extremes_u8"), ("5x4_u8", "5x4_u8")):
            for size in (3, 5):
                pair = IMAGES[first], IMAGES[second]
                expected = flow_by_signatures(*pair, border, size)
                agree("optical_flow", expected, flow_by_comparison(*pair, border, size), 0)
                add("optical_flow", first, expected, with_numpy, border=border, params={"window": size},
                    detail=str(size), second=second, note="exact: integers")

        def pipe(image, border):
            brightened = 255 * (image / 255) ** image.dtype.type(0.8)
            return correlated(brightened, BINOMIAL[5].astype(image.dtype), border)
        add_formula("scatter_pipes", "noise_f32", pipe, border, 1e-3, params={"output": "l3"})

    for width, height in ((61, 43), (1, 1), (5, 7)):
        expected = mandelbrot(width, height)
        one_by_one = [[mandelbrot_pixel(x, y, width, height) for x in range(width)] for y in range(height)]
        agree("mandelbrot", expected, one_by_one, 0)
        add("mandelbrot", None, expected, with_numpy, params={"width": width, "height": height},
            detail=f"{width}x{height}", note="exact: float32, from left to right")


def check_borders():
    """np.pad agrees with the definition by index on every mode, also where an index overshoots repeatedly."""
    def index(i, n, border):
        if border == "clamp":
            return min(max(i, 0), n - 1)
        if border == "repeat":
            return i % n
        if border == "mirror":
            return min(i % (2 * n), 2 * n - 1 - i % (2 * n))
        period = max(2 * n - 2, 1)
        return min(i % period, period - i % period) if n > 1 else 0

    for n in range(1, 8):
        row = np.arange(1, n + 1)
        for border in BORDERS[:4]:
            by_index = [row[index(i, n, border)] for i in range(-13, n + 13)]
            agree(f"np.pad {border} {n}", by_index, np.pad(row, 13, mode=PAD[border]), 0)


def main():
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    check_borders()
    for make in (correlate_cases, gaussian_cases, footprint_cases, edge_cases, bilateral_cases, corner_cases,
                 colour_cases, cast_cases, sample_cases):
        make()
    resampling_cases.all_cases(sys.modules[__name__])
    used = {name for case in cases for name in case["input"]}
    for name, image in IMAGES.items():
        assert f"{name}.npy" in used, f"{name} is not used"
        np.save(DATA / f"{name}.npy", np.ascontiguousarray(image))
    lines = ",\n".join(json.dumps(case, allow_nan=False) for case in cases)
    (DATA / "cases.json").write_text(f"[\n{lines}\n]\n")
    counts = {}
    for case in cases:
        counts[case["op"]] = counts.get(case["op"], 0) + 1
    size = sum(file.stat().st_size for file in DATA.iterdir())
    print(f"{len(cases)} cases, {len(IMAGES)} images, {size / 1e6:.2f} MB:",
          ", ".join(f"{op} {n}" for op, n in counts.items()))


if __name__ == "__main__":
    main()
