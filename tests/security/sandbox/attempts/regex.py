# limit: time
import re
re.match(r"(a+)+$", "a" * 64_000 + "b")
