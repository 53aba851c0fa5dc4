# limit: time
# One operation that does not come back.
x = 10 ** 10000000
y = x ** 3 % (x - 1)
