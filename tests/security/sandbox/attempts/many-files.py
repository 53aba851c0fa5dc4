# limit: files
for i in range(100_000):
    open(str(i), "w").close()
