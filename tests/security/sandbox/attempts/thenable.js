// limit: time
// A value that answers for ever when it is asked.
({
  get a() {
    for (;;);
  },
  toJSON() {
    for (;;);
  },
});
