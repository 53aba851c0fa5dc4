import { surfaceCost } from "../src/cli/tools.ts";
import { MODES } from "../src/core/options.ts";
import { createBed } from "../tests/harness/bed.ts";
import { row } from "./lib/servers.ts";

/** What every conversation pays before the first call, by mode (o200k). */
row("mode", "tools", "instructions", "tokens", "characters");
for (const mode of MODES) {
  await using bed = createBed({ cli: { "mcp.mode": mode } });
  const cost = await surfaceCost(bed.app);
  row(
    mode,
    String(cost.tools.length),
    String(cost.instructions_tokens),
    String(cost.total_tokens),
    String(cost.total_chars),
  );
}
