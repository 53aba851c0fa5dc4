# Frames that no driver would send.
import os
for fd in range(3, 20):
    for frame in (b"\xff\xff\xff\xff\x00", b"\x04\x00\x00\x00C\xff\xff\xff\xff", b"\x00\x00\x00\x00Z", b"\x01\x00\x00\x00D{", b"\x09\x00\x00\x00C\x04\x00\x00\x00stat{"):
        try:
            os.write(fd, frame)
            os.read(fd, 1000)
        except OSError:
            pass
