"""Makes thumbnails on this machine out of what the film and the caller give: nothing in them is invented.

The rooms in here import numpy and OpenCV as they load. So nothing outside imports them as it loads: the registry does
when a maker is asked for, and the API process never asks.
"""
