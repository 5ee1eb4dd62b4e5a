"""Local thumbnail engine that composes images of the video and of the caller; it generates nothing.

Its modules import numpy and OpenCV at the top level. They are imported only when the registry builds a renderer, which
the API process never does.
"""
