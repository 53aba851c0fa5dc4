// limit: time|memory
const again = () => Promise.resolve().then(again);
await again();
