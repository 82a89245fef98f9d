"""The cases of local operators: convolutions, footprints, edges, corners."""
import cv2
import numpy as np
import scipy.ndimage as ndi
from skimage.filters import sobel

from oracle import (B3, BINOMIAL, BORDERS, CV, IMAGES, OUTSIDE, SCIPY, SMALL, add, add_formula, add_rounded, agree,
                    cases, correlated, separable, windows, with_cv, with_numpy, with_scipy, with_skimage)


# ---- formulas ------------------------------------------------------------------------------------

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


def orientation(image, border, output):
    dx = correlated(image, (PREWITT / 6).astype(image.dtype), border)
    dy = correlated(image, (PREWITT.T / 6).astype(image.dtype), border)
    blur = BINOMIAL[5].astype(image.dtype)
    gxx, gyy, gxy = (correlated(product, blur, border) for product in (dx * dx, dy * dy, dx * dy))
    direction = np.stack([gxx - gyy, 2 * gxy], -1)
    if output == "direction":
        return direction
    return np.sqrt((direction ** 2).sum(-1)) / (gxx + gyy + 1)


# ---- cases ---------------------------------------------------------------------------------------

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
            source += " = " + with_cv.format("Sobel") + " = 4 * " + with_skimage.format("filters.sobel")
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

    for output, tolerance in (("direction", .02), ("coherence", 1e-5)):
        for border in BORDERS:
            add_formula("orientation", "noise_f32", lambda i, b: orientation(i, b, output), border, tolerance,
                        params={"output": output}, detail=output)
    for op in ("harris", "shitomasi"):
        for border in BORDERS:
            one(op, "noise_f32", border)
            one(op, "5x4_f32", border)
        for image in ("scene_f32", "1x1_f32", "1x7_f32"):
            one(op, image, "clamp")


def all_cases():
    correlate_cases()
    gaussian_cases()
    footprint_cases()
    edge_cases()
    bilateral_cases()
    corner_cases()
