"""The cases of global operators: reductions, histograms and what is made of them. Results of one value are
1x1, of one row n x 1."""
import math

import cv2
import numpy as np
import scipy.ndimage as ndi
from skimage.exposure import rescale_intensity

from oracle import IMAGES, add, agree, noise, scene, with_cv, with_numpy, with_skimage

by_numpy = f"numpy.{{}} {np.__version__}"

IMAGES["wide_i32"] = noise("wide_i32", (17, 23), np.uint32).view(np.int32)
IMAGES["flat_u8"] = np.full((4, 5), 113, np.uint8)
IMAGES["flat_f32"] = np.full((4, 5), 113.25, np.float32)
IMAGES["dim_u8"] = scene((48, 64)) // 9 + 90


# ---- formulas ------------------------------------------------------------------------------------

def equalized(image):
    """OpenCV's formula, in float32."""
    below = np.cumsum(np.bincount(image.ravel(), minlength=256))
    darkest, every = below[image.min()], image.size
    if darkest == every:
        return image
    scale = np.float32(255) / np.float32(every - darkest)
    spread = (below - darkest).astype(np.float32) * scale
    return np.clip(np.rint(spread), 0, 255).astype(np.uint8)[image]


# ---- cases ---------------------------------------------------------------------------------------

def reduction_cases():
    for image in ("noise_u8", "1x1_u8", "rgb_u8", "rgba_u8", "wide_i32", "noise_f32", "rgb_f32"):
        pixels = IMAGES[image].reshape(*IMAGES[image].shape[:2], -1)
        lanes = range(pixels.shape[2])
        integer = pixels.dtype != np.float32
        wide = np.float64 if not integer else np.int64 if pixels.dtype == np.int32 else np.uint64
        total = pixels.sum((0, 1), dtype=wide)
        for lane in lanes:
            agree("sum", total[lane], math.fsum(pixels[..., lane].ravel().tolist()), 0 if integer else 1e-6)
        tolerance = 0 if integer else float(f"{1e-6 * total.max():.1e}")
        add("reduce_sum", image, total[None, None], by_numpy.format("sum"), tolerance=tolerance)
        for op, of_numpy in (("reduce_min", np.min), ("reduce_max", np.max)):
            value = of_numpy(pixels, (0, 1))
            end = 0 if op == "reduce_min" else -1
            agree(op, value, [sorted(pixels[..., lane].ravel())[end] for lane in lanes], 0)
            add(op, image, value[None, None], by_numpy.format(of_numpy.__name__))


def place_cases():
    for image in ("noise_u8", "extremes_u8", "flat_u8", "1x7_u8", "7x1_u8", "wide_i32", "noise_f32"):
        pixels = IMAGES[image]
        _, _, least, greatest = cv2.minMaxLoc(pixels.astype(np.float64))
        for op, of_numpy, of_cv in (("arg_min", np.argmin, least), ("arg_max", np.argmax, greatest)):
            y, x = np.unravel_index(of_numpy(pixels), pixels.shape)
            agree(op, [x, y], of_cv, 0)
            source = by_numpy.format(of_numpy.__name__) + " = " + with_cv.format("minMaxLoc")
            add(op, image, np.array([[[x, y]]], np.int32), source, note="of equal pixels the first, x fastest")


def histogram_cases():
    for image in ("noise_u8", "extremes_u8", "scene_u8", "1x1_u8"):
        counts = np.bincount(IMAGES[image].ravel(), minlength=256)
        agree("histogram", counts, cv2.calcHist([IMAGES[image]], [0], None, [256], [0, 256]).ravel(), 0)
        add("histogram", image, counts[None].astype(np.uint32),
            by_numpy.format("bincount") + " = " + with_cv.format("calcHist"))

    for first, second in (("texture_u8", "moved_u8"), ("noise_u8", "step_u8")):
        a, b = IMAGES[first].ravel() // 16, IMAGES[second].ravel() // 32
        counts = np.bincount(b * 16 + a, minlength=128).reshape(8, 16)
        agree("histogram2d", counts, np.histogram2d(b, a, bins=(8, 16), range=((0, 8), (0, 16)))[0], 0)
        source = by_numpy.format("bincount = numpy.histogram2d")
        add("histogram2d", first, counts.astype(np.uint32), source, second=second,
            note="bins of 16 values of the first image along x, of 32 of the second along y")


def block_cases():
    """Reductions of each block of 4 x 3 pixels, those at the edges smaller."""
    for image in ("noise_u8", "extremes_u8", "7x1_u8"):
        pixels = IMAGES[image].astype(np.int32)
        labels = np.arange(pixels.shape[0])[:, None] // 3 * 100 + np.arange(pixels.shape[1]) // 4
        shape = -(-pixels.shape[0] // 3), -(-pixels.shape[1] // 4)
        for op, function, of_labels in (("block_sum", np.add, ndi.sum_labels),
                                        ("block_min", np.minimum, ndi.minimum),
                                        ("block_max", np.maximum, ndi.maximum)):
            rows = function.reduceat(pixels, np.arange(0, pixels.shape[0], 3), axis=0, dtype=np.int32)
            blocks = function.reduceat(rows, np.arange(0, pixels.shape[1], 4), axis=1, dtype=np.int32)
            agree(op, blocks, np.reshape(of_labels(pixels, labels, np.unique(labels)), shape), 0)
            add(op, image, blocks, by_numpy.format(function.__name__ + ".reduceat") + " = scipy.ndimage by labels")


def point_cases():
    for image in ("noise_f32", "scene_f32", "flat_f32", "1x1_f32"):
        pixels = IMAGES[image].astype(np.float64)
        low, high = pixels.min(), pixels.max()
        expected = (pixels - low) / (high - low) if high > low else np.zeros_like(pixels)
        if high > low:
            agree("normalize", expected, rescale_intensity(pixels, out_range=(0.0, 1.0)), 1e-12)
            agree("normalize", expected, cv2.normalize(pixels, None, 0, 1, cv2.NORM_MINMAX), 1e-12)
        libraries = with_cv.format("normalize") + " = " + with_skimage.format("exposure.rescale_intensity")
        add("normalize", image, expected, libraries if high > low else with_numpy, tolerance=1e-6)

    for image in ("noise_u8", "extremes_u8", "step_u8", "scene_u8", "dim_u8", "flat_u8", "1x1_u8", "1x7_u8"):
        expected = cv2.equalizeHist(IMAGES[image])
        agree("equalize", expected, equalized(IMAGES[image]), 0)
        add("equalize", image, expected, with_cv.format("equalizeHist"))


def all_cases():
    reduction_cases()
    place_cases()
    histogram_cases()
    block_cases()
    point_cases()
