# limit: time
import time
time.sleep(10_000)
