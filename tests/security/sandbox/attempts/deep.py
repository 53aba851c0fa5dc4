# Recursion in C that the interpreter does not count.
import sys, json
sys.setrecursionlimit(10**6)
a = []
for _ in range(200_000): a = [a]
try:
    repr(a)
except RecursionError:
    pass
json.dumps(a)
