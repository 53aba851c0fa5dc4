// limit: disk
import fs from "fs";

for (let i = 0; ; i++) fs.appendFileSync("a", "x".repeat(1e6));
