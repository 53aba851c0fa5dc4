# limit: disk
with open("a", "wb") as f:
    f.truncate(10**12)
