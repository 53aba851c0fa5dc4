// Files of the host.
import fs from "fs";

for (const path of [
  "/etc/passwd",
  "../../etc/passwd",
  "/workspace/../etc/passwd",
  "/proc/self/environ",
  CANARY_FILE,
  "\0/etc/passwd",
]) {
  try {
    console.log("ESCAPED", fs.readFileSync(path, "utf8"));
  } catch {}
  try {
    fs.writeFileSync(path, "x");
    if (!path.startsWith("\0")) console.log("ESCAPED", path);
  } catch {}
}
