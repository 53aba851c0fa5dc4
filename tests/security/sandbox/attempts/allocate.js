// limit: memory
const hold = [];
for (;;) hold.push(new Uint8Array(1e6));
