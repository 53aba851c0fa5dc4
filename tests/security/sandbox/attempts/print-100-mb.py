# limit: stdout
for _ in range(100):
    print("x" * 1_000_000)
