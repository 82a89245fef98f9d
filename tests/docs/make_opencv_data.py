#!/usr/bin/env python3
"""Makes data/: what OpenCV makes of a small picture, for the table of OpenCV's calls in docs/cookbook.md.

    pip install numpy==2.4.6 scikit-image==0.26.0 opencv-python-headless==5.0.0.93
    python3 make_opencv_data.py

The picture is a part of scikit-image's astronaut, a photograph by NASA in the public domain, as cv::imread gives it:
blue, green, red. Running it twice gives the same bytes.
"""
import pathlib
import shutil

import cv2
import numpy as np
import skimage.data

DATA = pathlib.Path(__file__).resolve().parent / "data"

bgr = np.ascontiguousarray(skimage.data.astronaut()[60:109, 180:247, ::-1])  # 67x49
grey = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
turn = np.array([[0.8, -0.6, 20.5], [0.6, 0.8, -14.25]])
y, x = np.mgrid[:49, :67].astype(np.float32)
wave = np.stack([x + 3 * np.sin(y / 5), y + 2 * np.cos(x / 7)], -1).astype(np.float32)
ellipse = np.array([[0, 0, 1, 0, 0], [1] * 5, [1] * 5, [1] * 5, [0, 0, 1, 0, 0]], np.uint8)
assert (ellipse == cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))).all()
sharpen = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.float32)
curve = np.rint(255 * (np.arange(256) / 255) ** 0.5).astype(np.uint8)
inverse = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP

IMAGES = {
    "picture": bgr,
    "grey": grey,
    "wave": wave,
    "curve": curve[None],
    "GaussianBlur": cv2.GaussianBlur(grey, (5, 5), 0),
    "GaussianBlur_sigma": cv2.GaussianBlur(grey.astype(np.float32), (13, 13), 2),
    "blur": cv2.blur(grey, (5, 5)),
    "Sobel": cv2.Sobel(grey, cv2.CV_16S, 1, 0).astype(np.int32),
    "threshold": cv2.threshold(grey, 128, 255, cv2.THRESH_BINARY)[1],
    "dilate": cv2.dilate(grey, ellipse),
    "erode": cv2.erode(grey, ellipse),
    "resize_linear": cv2.resize(grey, (40, 30), interpolation=cv2.INTER_LINEAR),
    "resize_nearest": cv2.resize(grey, (40, 30), interpolation=cv2.INTER_NEAREST),
    "resize_area": cv2.resize(grey[:48, :64], (16, 12), interpolation=cv2.INTER_AREA),
    "warpAffine": cv2.warpAffine(grey, turn, (67, 49), flags=inverse),
    "remap": cv2.remap(grey, wave, None, cv2.INTER_LINEAR),
    "filter2D": cv2.filter2D(grey, -1, sharpen),
    "medianBlur": cv2.medianBlur(grey, 5),
    "bilateralFilter": cv2.bilateralFilter(grey, 9, 25, 3),
    "calcHist": cv2.calcHist([grey], [0], None, [256], [0, 256]).astype(np.uint32).reshape(1, 256),
    "pyrDown": cv2.pyrDown(grey),
    "LUT": cv2.LUT(grey, curve),
    "addWeighted": cv2.addWeighted(grey, 0.3, bgr[..., 0], 0.7, 5),
    "absdiff": cv2.absdiff(grey, np.ascontiguousarray(bgr[..., 0])),
    "inRange": cv2.inRange(bgr, (20, 30, 40), (200, 210, 220)),
    "flip": cv2.flip(grey, 1),
    "transpose": cv2.transpose(grey),
    "copyMakeBorder": cv2.copyMakeBorder(grey, 3, 3, 4, 4, cv2.BORDER_REFLECT),
    "CLAHE": cv2.createCLAHE(3.0, (4, 4)).apply(grey),
}


def main():
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir()
    for name, image in IMAGES.items():
        np.save(DATA / f"{name}.npy", np.ascontiguousarray(image))
    size = sum(file.stat().st_size for file in DATA.iterdir())
    print(f"OpenCV {cv2.__version__}: {len(IMAGES)} images, {size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
