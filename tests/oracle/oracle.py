"""What the oracle cases share: images, borders and windows, and the list of cases. See make_oracles.py."""
import json
import pathlib
import sys
import zlib

import cv2
import numpy as np
import scipy
import skimage

DATA = pathlib.Path(__file__).resolve().parent / "data"
BORDERS = ["clamp", "mirror", "mirror101", "repeat", "constant"]
PAD = dict(clamp="edge", mirror="symmetric", mirror101="reflect", repeat="wrap", constant="constant")
SCIPY = dict(clamp="nearest", mirror="reflect", mirror101="mirror", repeat="wrap", constant="constant")
CV = dict(clamp=cv2.BORDER_REPLICATE, mirror=cv2.BORDER_REFLECT, mirror101=cv2.BORDER_REFLECT_101)
OUTSIDE = 37  # the value of constant borders; not 0, so that a forgotten value shows

with_scipy = f"scipy.ndimage.{{}} {scipy.__version__}"
with_skimage = f"skimage.{{}} {skimage.__version__}"
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


# ---- files ---------------------------------------------------------------------------------------

def write_all():
    """The images and cases.json, into a folder that holds the expected images."""
    used = {name for case in cases for name in case["input"]}
    for name, image in IMAGES.items():
        assert f"{name}.npy" in used, f"{name} is not used"
        np.save(DATA / f"{name}.npy", np.ascontiguousarray(image))
    lines = ",\n".join(json.dumps(case, allow_nan=False) for case in cases)
    (DATA / "cases.json").write_text(f"[\n{lines}\n]\n")
