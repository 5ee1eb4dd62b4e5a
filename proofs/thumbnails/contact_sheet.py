"""Draws a contact sheet of all thumbnails for visual review."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from dev.environment import data_dir
from proofs.thumbnails.measures import load

COLUMNS, WIDTH, HEIGHT = 6, 320, 180


def draw_sheet(paths: Sequence[Path]) -> Path:
    rows = -(-len(paths) // COLUMNS)
    sheet = np.full((rows * HEIGHT, COLUMNS * WIDTH, 3), 24, np.uint8)
    for number, path in enumerate(paths):
        top, left = number // COLUMNS * HEIGHT, number % COLUMNS * WIDTH
        small = cv2.resize(load(path), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
        sheet[top : top + HEIGHT, left : left + WIDTH] = small
    target = data_dir() / "thumbnails.png"
    cv2.imwrite(str(target), cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))
    return target
