# limit: memory
hold = []
while True:
    hold.append(bytearray(1_000_000))
