"""The cases of the remaining samples: a disc, optical flow, chains of stages, and a set in the plane."""
import numpy as np
import scipy.ndimage as ndi

from oracle import (BINOMIAL, BORDERS, IMAGES, OUTSIDE, PAD, SCIPY, add, add_formula, agree, cases, correlated,
                    windows, with_numpy, with_scipy)


# ---- formulas ------------------------------------------------------------------------------------

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


def all_cases():
    sample_cases()
