import type { Tool } from "../core/tool.ts";
import { cancel_execution } from "./cancel_execution.ts";
import { create_session } from "./create_session.ts";
import { destroy_session } from "./destroy_session.ts";
import { execute_code } from "./execute_code.ts";
import { get_active_sessions } from "./get_active_sessions.ts";
import { get_metrics } from "./get_metrics.ts";
import { get_workspace_info } from "./get_workspace_info.ts";
import { health } from "./health.ts";
import { inspect } from "./inspect.ts";
import { linux_fs_delete } from "./linux_fs_delete.ts";
import { linux_fs_edit } from "./linux_fs_edit.ts";
import { linux_fs_list } from "./linux_fs_list.ts";
import { linux_fs_mkdirs } from "./linux_fs_mkdirs.ts";
import { linux_fs_move } from "./linux_fs_move.ts";
import { linux_fs_read } from "./linux_fs_read.ts";
import { linux_fs_write } from "./linux_fs_write.ts";
import { linux_handle_read } from "./linux_handle_read.ts";
import { linux_proc_kill } from "./linux_proc_kill.ts";
import { linux_proc_list } from "./linux_proc_list.ts";
import { linux_proc_read } from "./linux_proc_read.ts";
import { linux_proc_send } from "./linux_proc_send.ts";
import { linux_proc_start } from "./linux_proc_start.ts";
import { linux_proc_stop } from "./linux_proc_stop.ts";
import { linux_search_content } from "./linux_search_content.ts";
import { linux_search_files } from "./linux_search_files.ts";
import { linux_sys_snapshot } from "./linux_sys_snapshot.ts";
import { list_available_packages } from "./list_available_packages.ts";
import { list_dir } from "./list_dir.ts";
import { list_runtimes } from "./list_runtimes.ts";
import { llmc_init } from "./llmc_init.ts";
import { maasl_locks } from "./maasl_locks.ts";
import { rag_bootload } from "./rag_bootload.ts";
import { rag_lineage } from "./rag_lineage.ts";
import { rag_plan } from "./rag_plan.ts";
import { rag_search } from "./rag_search.ts";
import { rag_search_enriched } from "./rag_search_enriched.ts";
import { rag_stats } from "./rag_stats.ts";
import { rag_where_used } from "./rag_where_used.ts";
import { read_file } from "./read_file.ts";
import { repo_read } from "./repo_read.ts";
import { repo_write_patch } from "./repo_write_patch.ts";
import { reset_all_sessions } from "./reset_all_sessions.ts";
import { reset_workspace } from "./reset_workspace.ts";
import { rlm_query } from "./rlm_query.ts";
import { run_cmd } from "./run_cmd.ts";
import { run_pytest } from "./run_pytest.ts";
import { stat } from "./stat.ts";
import { te_run } from "./te_run.ts";

/** THE list. Its order is the order of tools/list. */
export const TOOLS: readonly Tool[] = [
  read_file,
  list_dir,
  stat,
  linux_fs_read,
  linux_fs_write,
  linux_fs_edit,
  linux_fs_list,
  linux_fs_move,
  linux_fs_delete,
  linux_fs_mkdirs,
  repo_read,
  repo_write_patch,
  linux_search_files,
  linux_search_content,
  rag_search,
  rag_search_enriched,
  rag_where_used,
  rag_lineage,
  inspect,
  rag_plan,
  rag_stats,
  rag_bootload,
  linux_handle_read,
  run_cmd,
  te_run,
  run_pytest,
  rlm_query,
  execute_code,
  create_session,
  destroy_session,
  get_active_sessions,
  get_workspace_info,
  reset_workspace,
  reset_all_sessions,
  cancel_execution,
  list_runtimes,
  list_available_packages,
  linux_proc_start,
  linux_proc_send,
  linux_proc_read,
  linux_proc_stop,
  linux_proc_kill,
  linux_proc_list,
  linux_sys_snapshot,
  maasl_locks,
  health,
  get_metrics,
  llmc_init,
];
