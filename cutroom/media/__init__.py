"""Opens media in a sandbox: what a file holds, and its poster, audio and proxy, in pieces that survive a crash."""
