// A number that grows until nothing holds it.
let x = 3n ** 1000000n;
for (;;) x = ((x * x) % (x - 1n)) + x;
