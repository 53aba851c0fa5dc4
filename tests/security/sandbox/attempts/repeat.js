// limit: time
for (;;) "x".repeat(3e7);
