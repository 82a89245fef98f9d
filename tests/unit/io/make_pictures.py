#!/usr/bin/env python3
"""Makes data/: small pictures as other programs write them, each with what they make of it, as NAME.npy.

    pip install numpy==2.4.6 pillow==13.0.0 tifffile==2026.3.3
    python3 make_pictures.py

Running it twice gives the same bytes.
"""
import pathlib
import shutil

import numpy as np
import tifffile
from PIL import Image, ImageOps

DATA = pathlib.Path(__file__).resolve().parent / "data"

y, x, l = np.mgrid[:7, :11, :4]
pixels = ((x * 23 + y * 31 + l * 57 + x * y * l) % 256).astype(np.uint8)  # 11x7, four lanes
grey, rgb = pixels[..., 0], pixels[..., :3]


def orientation(n):
    exif = Image.Exif()
    exif[274] = n
    return exif


def expect(name, array):
    np.save(DATA / (name + ".npy"), array)


def picture(name, image, mode=None, **options):
    """Written by Pillow; expected is what Pillow reads, upright."""
    image.save(DATA / name, **options)
    back = ImageOps.exif_transpose(Image.open(DATA / name))
    expect(name, np.asarray(back.convert(mode) if mode else back))


def tiff(name, array, expected, **options):
    """Written by tifffile."""
    tifffile.imwrite(DATA / name, array, software=None, datetime=None, **options)
    expect(name, expected)


def pictures():
    for n in range(1, 9):
        picture(f"turned_{n}.jpg", Image.fromarray(grey), exif=orientation(n), quality=95)
    picture("turned_6.png", Image.fromarray(rgb), exif=orientation(6))
    picture("turned_8.webp", Image.fromarray(pixels), exif=orientation(8), lossless=True, exact=True)
    picture("turned_3.tif", Image.fromarray(rgb), tiffinfo={274: 3})
    picture("lossy.webp", Image.fromarray(rgb), quality=80)
    picture("inks.jpg", Image.fromarray(pixels, "CMYK"), "RGB", quality=95, subsampling=0)
    picture("inks.tif", Image.fromarray(pixels, "CMYK"), "RGB")
    two = Image.fromarray(grey).point(lambda v: 255 * (v > 99)).convert("1")
    for name in ("two.png", "two.bmp", "two.tif"):
        picture(name, two, "L")
    picture("fax.tif", two, "L", compression="group4")
    picture("fax_white.tif", two, "L", compression="group4", tiffinfo={262: 0})
    palette = Image.fromarray(rgb).quantize(13)
    for name in ("palette.png", "palette.bmp", "palette.tif"):
        picture(name, palette, "RGB")
    picture("grey.bmp", Image.fromarray(grey))
    picture("rgb.bmp", Image.fromarray(rgb))
    picture("rgba.bmp", Image.fromarray(pixels))


def tiffs():
    half = (rgb / np.float16(16) - 3).astype(np.float16)
    tiff("half.tif", half, half, photometric="rgb")
    tiff("white.tif", 255 - grey, grey, photometric="miniswhite")
    deep = grey.astype(np.uint16) * np.uint16(257) - np.uint16(100) * (grey > 0)
    tiff("white_16.tif", 65535 - deep, deep, photometric="miniswhite")
    wide = grey.astype(np.int64) << 40
    tiff("wide.tif", wide, wide, photometric="minisblack")
    volume = np.stack([grey, 255 - grey, grey // 2])
    tiff("volume.tif", volume, volume, photometric="minisblack")
    tiff("volume_imagej.tif", volume, volume, imagej=True)


def arrays():
    def save(name, array, expected):
        np.save(DATA / name, array)
        expect(name, expected)

    numbers = rgb.astype(np.float64) / 7 - 5
    for kind in ("f2", "f4", "f8", "i2", "u4", "u8"):
        of_kind = (numbers.clip(0) if kind[0] == "u" else numbers).astype(kind)
        save(f"big_endian_{kind}.npy", of_kind.astype(">" + kind), of_kind)
    save("fortran.npy", np.asfortranarray(numbers), numbers)
    save("fortran_volume.npy", np.asfortranarray(numbers.reshape(3, 7, 11)), numbers.reshape(3, 7, 11))
    save("fortran_big_endian.npy", np.asfortranarray(numbers.astype(">f8")), numbers)


def refused():
    array = np.zeros((3, 4, 5, 6), np.uint8)
    tifffile.imwrite(DATA / "refused_shaped.tif", array, software=None, photometric="minisblack")
    tifffile.imwrite(DATA / "refused_imagej.tif", array, software=None, imagej=True, metadata={"axes": "ZCYX"})
    tifffile.imwrite(DATA / "refused_truncated.tif", array[0], software=None, photometric="minisblack", truncate=True)
    np.save(DATA / "refused_complex.npy", np.zeros((2, 2), np.complex64))
    np.save(DATA / "refused_record.npy", np.zeros((2, 2), [("a", "u1"), ("b", "u1")]))
    np.save(DATA / "refused_rank.npy", np.zeros((2, 2, 2, 5), np.uint8))
    np.save(DATA / "refused_number.npy", np.float32(1))


shutil.rmtree(DATA, ignore_errors=True)
DATA.mkdir()
pictures()
tiffs()
arrays()
refused()
