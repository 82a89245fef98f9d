"""The cases of colours and of conversions."""
import cv2
import numpy as np

from oracle import (B3, BORDERS, IMAGES, add, add_formula, add_rounded, agree, cases, rounded, windows, with_cv,
                    with_numpy)


# ---- formulas ------------------------------------------------------------------------------------

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


# ---- cases ---------------------------------------------------------------------------------------

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


def all_cases():
    colour_cases()
    cast_cases()
