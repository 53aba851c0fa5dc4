# Memory by address.
for name in ("ctypes", "_ctypes", "mmap", "cffi", "readline", "_posixsubprocess"):
    try:
        __import__(name)
        print("ESCAPED", name)
    except ImportError:
        pass
