# Files of the host under every name that could lead to them.
import os
found = []
for path in ["/etc/passwd", "../../../../etc/passwd", "/workspace/../etc/passwd", "/packages/../../etc/passwd", "/llmc/../etc/passwd", "/proc/self/environ", "/proc/1/environ", "/dev/mem", "//etc//passwd", "/usr/local/lib/../../../etc/passwd", CANARY_FILE]:
    try:
        with open(path, "rb") as f:
            found.append(f.read(4096))
    except OSError:
        pass
    try:
        found.append(os.listdir(os.path.dirname(path)).index("shadow"))
    except (OSError, ValueError):
        pass
if found:
    print("ESCAPED", found)
