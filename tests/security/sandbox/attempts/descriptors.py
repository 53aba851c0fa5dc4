# Descriptors that nobody gave.
import os
for fd in list(range(6, 300)) + [-1, 2**31 - 1]:
    for act in (lambda: os.read(fd, 10), lambda: os.write(fd, b"x"), lambda: os.fstat(fd), lambda: os.listdir(fd)):
        try:
            act()
        except (OSError, OverflowError, ValueError):
            continue
        print("open", fd)
try:
    os.read(0, 10_000) and print("ESCAPED")
except OSError:
    pass
