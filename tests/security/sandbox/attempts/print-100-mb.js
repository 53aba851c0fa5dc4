// limit: stdout
for (let i = 0; i < 100; i++) console.log("x".repeat(1e6));
