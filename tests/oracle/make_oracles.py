#!/usr/bin/env python3
"""Makes the oracle files in data/: what SciPy, scikit-image and OpenCV say that an image operator means.

    pip install numpy scipy scikit-image pillow opencv-python-headless
    python3 make_oracles.py

Every expected image is computed at least twice, by a library and by a plain NumPy formula (or by the
formula in float64 and in float32 where no library has the operator). The script stops if two of them
disagree by more than the tolerance that it writes down. Running it twice gives the same bytes.
"""
import collections
import shutil

import colour_cases
import global_cases
import local_cases
import oracle
import resampling_cases
import sample_cases


def main():
    shutil.rmtree(oracle.DATA, ignore_errors=True)
    oracle.DATA.mkdir(parents=True)
    oracle.check_borders()
    for module in (local_cases, colour_cases, sample_cases, resampling_cases, global_cases):
        module.all_cases()
    oracle.write_all()
    counts = collections.Counter(case["op"] for case in oracle.cases)
    size = sum(file.stat().st_size for file in oracle.DATA.iterdir())
    print(f"{len(oracle.cases)} cases, {len(oracle.IMAGES)} images, {size / 1e6:.2f} MB:",
          ", ".join(f"{op} {n}" for op, n in counts.items()))


if __name__ == "__main__":
    main()
