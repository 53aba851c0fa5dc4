import type { Tool } from "../core/tool.ts";
import { get_metrics } from "./get_metrics.ts";
import { health } from "./health.ts";
import { list_dir } from "./list_dir.ts";
import { llmc_init } from "./llmc_init.ts";
import { read_file } from "./read_file.ts";
import { stat } from "./stat.ts";

/** THE list. Its order is the order of tools/list. */
export const TOOLS: readonly Tool[] = [read_file, list_dir, stat, health, get_metrics, llmc_init];
