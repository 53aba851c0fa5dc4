# limit: disk
n = 0
with open("a", "wb") as f:
    while True:
        f.write(b"x" * 1_000_000)
