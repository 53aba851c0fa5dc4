// limit: time
setInterval(() => {}, 1);
await new Promise(() => {});
