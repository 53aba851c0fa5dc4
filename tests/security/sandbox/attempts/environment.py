# The server's environment.
import os, sys
values = list(os.environ.values()) + list(getattr(os, "environb", {}).values()) + sys.argv + [sys.executable]
print(values)
