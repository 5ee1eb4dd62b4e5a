"""Media processing with sandboxed ffmpeg: probing, derivatives, renditions and packaging, in restartable chunks."""
