// limit: time
for (;;) {
  try {
    for (;;);
  } catch {
  } finally {
  }
}
