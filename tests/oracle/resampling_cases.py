"""The cases of resampling and pyramids."""
import cv2
import numpy as np
import scipy.ndimage as ndi
from PIL import Image
from PIL import __version__ as pillow_version

import oracle as o
from local_cases import bilateral

B5 = np.array([1, 4, 6, 4, 1]) / 16
CHECKED_WITH = f", checked against Pillow {pillow_version} inside"


# ---- formulas ------------------------------------------------------------------------------------

def keys(t):
    t = np.abs(t)
    return np.where(t < 1, 1.5 * t ** 3 - 2.5 * t ** 2 + 1,
                    np.where(t < 2, -0.5 * t ** 3 + 2.5 * t ** 2 - 4 * t + 2, 0))


KERNELS = dict(bilinear=lambda t: np.maximum(0, 1 - np.abs(t)), bicubic=keys,
               lanczos3=lambda t: np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0))


def resampled_rows(image, size, kernel, border):
    """The rows of a 2-D image at `size` new places, by a matrix that knows nothing of taps."""
    n, reach = image.shape[0], 3 * max(image.shape[0], 3)
    value = {"constant_values": o.OUTSIDE} if border == "constant" else {}
    padded = np.pad(image, [(reach, reach), (0, 0)], mode=o.PAD[border], **value)
    x = np.arange(size)
    if kernel == "nearest":
        return padded[reach + (2 * x + 1) * n // (2 * size)]
    u = (x + 0.5) * n / size - 0.5
    weights = KERNELS[kernel](u[:, None] - (np.arange(len(padded)) - reach))
    return (weights / weights.sum(1, keepdims=True)) @ padded


def resampled(image, width, height, kernel, border):
    rows = resampled_rows(image, height, kernel, border)
    return resampled_rows(rows.T, width, kernel, border).T


def reduced(image, border):
    for axis in (0, 1):
        image = ndi.correlate1d(image, B5.astype(image.dtype), axis, mode=o.SCIPY[border], cval=o.OUTSIDE)
    height, width = image.shape
    return image[: height // 2 * 2 : 2, : width // 2 * 2 : 2]


def expanded_rows(image, size, border):
    value = {"constant_values": o.OUTSIDE} if border == "constant" else {}
    f = np.pad(image, [(1, 2), (0, 0)], mode=o.PAD[border], **value)
    x = np.arange(size)
    before, here, after = (f[x // 2 + k] for k in range(3))
    eight, two = image.dtype.type(8), image.dtype.type(2)
    return np.where((x % 2 == 0)[:, None], (before + 6 * here + after) / eight, (here + after) / two)


def expanded(image, shape, border):
    return expanded_rows(expanded_rows(image, shape[0], border).T, shape[1], border).T


def gaussian_pyramid(image, levels, border):
    g = [image]
    for _ in range(levels - 1):
        g.append(reduced(g[-1], border))
    return g


def bands(g, border):
    return [a - expanded(b, a.shape, border) for a, b in zip(g, g[1:])] + [g[-1]]


def collapsed(levels, border):
    image = levels[-1]
    for level in reversed(levels[:-1]):
        image = level + expanded(image, level.shape, border)
    return image


def laplacian(image, levels, q, border):
    b = bands(gaussian_pyramid(image, levels, border), border)
    if q:
        b[:-1] = [(q * np.rint(band / q)).astype(image.dtype) for band in b[:-1]]
    return collapsed(b, border)


def gradient(image, levels, border):
    g = gaussian_pyramid(image, levels, border)
    result = bands(g, border)
    for level in range(levels - 1):
        dx = o.correlated(g[level], np.array([[-0.5, 0, 0.5]], image.dtype), border)
        dy = o.correlated(g[level], np.array([[-0.5], [0], [0.5]], image.dtype), border)
        m = np.hypot(dx, dy)
        keep = m / (m + image.dtype.type(10))
        smooth = bilateral(result[level], border, size=5, domain="box", sigma_d=1.5, sigma_r=16 / 2 ** level)
        result[level] = (result[level] * keep + smooth * (1 - keep)).astype(image.dtype)
    return collapsed(result, border)


def mosaic(a, b, levels, border):
    mask = np.zeros_like(a)
    mask[:, : a.shape[1] // 2] = 1
    m = gaussian_pyramid(mask, levels, border)
    bands_a, bands_b = (bands(gaussian_pyramid(image, levels, border), border) for image in (a, b))
    return collapsed([k * p + (1 - k) * q for k, p, q in zip(m, bands_a, bands_b)], border)


# ---- cases ---------------------------------------------------------------------------------------

def check_against_libraries(name, exact, image, width, height, kernel, border):
    """Returns what agrees, for the case's source."""
    if kernel in ("nearest", "bilinear") and border == "clamp":
        how = cv2.INTER_NEAREST_EXACT if kernel == "nearest" else cv2.INTER_LINEAR
        o.agree(name + " cv2", exact, cv2.resize(image, (width, height), interpolation=how), 1e-3)
        return " = " + o.with_cv.format("resize")
    # Pillow filters before it makes images smaller, and leaves taps outside out.
    larger = width >= image.shape[1] > 9 and height >= image.shape[0] > 9
    if kernel in ("bicubic", "lanczos3") and larger:
        how = Image.Resampling.BICUBIC if kernel == "bicubic" else Image.Resampling.LANCZOS
        of_pillow = np.asarray(Image.fromarray(image).resize((width, height), how))
        inside = tuple(slice(4 * to // n + 1, -(4 * to // n + 1)) for n, to in zip(image.shape, exact.shape))
        o.agree(name + " Pillow", exact[inside], of_pillow[inside], 1e-3)
        return CHECKED_WITH
    return ""


def scaling_cases():
    def one(image, width, height, kernel, border):
        name = f"scaling {image} {kernel} {border}"
        exact = resampled(o.IMAGES[image].astype(np.float64), width, height, kernel, border)
        source = o.with_numpy
        if o.IMAGES[image].dtype == np.float32:
            source += check_against_libraries(name, exact, o.IMAGES[image], width, height, kernel, border)
        params = dict(width=width, height=height, filter=kernel)
        rest = dict(border=border, detail=f"{kernel}_{width}x{height}", params=params)
        if o.IMAGES[image].dtype == np.uint8:
            o.add_rounded("scaling", image, exact, source, **rest)
        else:
            o.add("scaling", image, exact, source, tolerance=0 if kernel == "nearest" else 2e-3, **rest)

    for kernel in ("nearest", "bilinear", "bicubic", "lanczos3"):
        for border in o.BORDERS:
            one("noise_f32", 40, 29, kernel, border)
        one("noise_f32", 9, 11, kernel, "clamp")
        one("5x4_f32", 13, 3, kernel, "mirror")
        one("1x1_f32", 3, 2, kernel, "mirror101")
        one("noise_u8", 31, 12, kernel, "clamp")


def aberration_cases():
    for image in ("rgb_f32",):
        pixels = o.IMAGES[image].astype(np.float64)
        h, w = pixels.shape[:2]
        y, x = np.mgrid[:h, :w]
        cx, cy = (w - 1) / 2, (h - 1) / 2
        channels = [ndi.map_coordinates(pixels[..., c], [cy + (y - cy) * (1 + 0.01 * (c - 1)),
                                                         cx + (x - cx) * (1 + 0.01 * (c - 1))],
                                        order=1, mode="nearest") for c in range(3)]
        o.add("chromatic_aberration", image, np.stack(channels, -1), o.with_scipy.format("map_coordinates"),
              border="clamp", tolerance=5e-3)


def level_cases():
    for border in o.BORDERS:
        for image in ("noise_f32", "5x4_f32"):
            pixels = o.IMAGES[image].astype(np.float64)
            half = reduced(pixels, border)
            source = o.with_scipy.format("correlate1d")
            if border in o.CV:
                of_cv = cv2.pyrDown(pixels, borderType=o.CV[border])  # rounds sizes up
                o.agree(f"pyrDown {border}", half, of_cv[: half.shape[0], : half.shape[1]], 1e-9)
                source += " = " + o.with_cv.format("pyrDown")
            o.add("reduce_level", image, half, source, border=border, tolerance=1e-3)

            height, width = pixels.shape[0] * 2 - 1, pixels.shape[1] * 2
            large = expanded(pixels, (height, width), border)
            of_cv = cv2.pyrUp(pixels)
            o.agree("pyrUp inside", large[2:-3, 2:-3], of_cv[2: height - 3, 2: width - 3], 1e-9)
            o.add("expand_level", image, large, f"numpy, {o.with_cv.format('pyrUp')} inside", border=border,
                  params=dict(width=width, height=height), tolerance=1e-3)


def pyramid_cases():
    def formula(op, image, border, tolerance, function, second=None, **params):
        o.add_formula(op, image, function, border, tolerance, params=params, second=second)

    for border in o.BORDERS:
        formula("gradient", "noise_f32", border, 2e-2, lambda i, b: gradient(i, 3, b), levels=3)
        formula("laplacian", "noise_f32", border, 1e-3, lambda i, b: laplacian(i, 4, 4, b), levels=4, q=4)
        o.add("laplacian", "noise_f32", o.IMAGES["noise_f32"], "the image itself", border=border, detail="lossless",
              params=dict(levels=5, q=0), tolerance=1e-3)
        formula("mosaic", "noise_f32", border, 2e-3,
                lambda i, b: mosaic(i, o.IMAGES["extremes_f32"].astype(i.dtype), 3, b), "extremes_f32", levels=3)
    formula("gradient", "scene_f32", "mirror", 2e-2, lambda i, b: gradient(i, 4, b), levels=4)
    formula("laplacian", "scene_f32", "mirror", 1e-3, lambda i, b: laplacian(i, 6, 4, b), levels=6, q=4)


def spline_cases():
    matrix = [0.75, -0.5, 3.25, 0.5, 0.75, -2]
    a, b = "extremes_f32", "noise_f32"
    y, x = np.mgrid[:17, :23]
    u, v = matrix[0] * x + matrix[1] * y + matrix[2], matrix[3] * x + matrix[4] * y + matrix[5]
    for border, mode in (("mirror", "reflect"), ("mirror101", "mirror"), ("repeat", "grid-wrap")):
        pixels = o.IMAGES[b].astype(np.float64)
        o.add("spline", a, ndi.spline_filter(pixels, 3, mode=mode), o.with_scipy.format("spline_filter"),
              border=border, detail="coefficients", params=dict(levels=1, output="d0_spline"), tolerance=5e-3,
              second=b, note="of the second image")
        moved = ndi.map_coordinates(pixels, [v, u], order=3, mode=mode)
        o.add("spline", a, (o.IMAGES[a] - moved) ** 2, o.with_scipy.format("map_coordinates"), border=border,
              params=dict(levels=1, matrix=",".join(map(str, matrix))), tolerance=1, detail="moved",
              second=b, note="1: squares up to 1e5 of differences that are off by 1e-3")


def all_cases():
    scaling_cases()
    aberration_cases()
    level_cases()
    pyramid_cases()
    spline_cases()
