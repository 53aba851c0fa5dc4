// Intrinsics bent for whoever runs next, and for the host that asks for the result.
for (const target of [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, String.prototype])
  for (const key of Object.getOwnPropertyNames(target)) {
    try {
      Object.defineProperty(target, key, {
        get() {
          throw new Error("bent");
        },
      });
    } catch {}
  }
JSON.stringify = JSON.parse = () => "ESCAPED";
