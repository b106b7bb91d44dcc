"""The nightly archive job of the team next door, on the same machine."""
import os, sys, zlib

block = os.urandom(200_000) + bytes(range(256)) * 2000
while True:
    zlib.compress(block, 6)
