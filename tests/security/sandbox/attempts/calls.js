// limit: tool_calls
const codes = new Set();
for (let i = 0; i < 60; i++) await tools.echo({}).catch((e) => codes.add(e.code));
if (!codes.has("limit_exceeded")) console.log("ESCAPED");
