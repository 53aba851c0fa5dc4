/** One class and one table for everything that can go wrong. Spellings that a contract demands are columns of the table. */

interface FaultRow {
  readonly rest: string;
  readonly status: number;
  /** The word of the linux_* tools; upper case of the code where absent. */
  readonly linux?: string;
  readonly retryable?: true;
}

export const FAULTS = {
  invalid_args: { rest: "BAD_ARGS", status: 422, linux: "INVALID_ARGUMENT" },
  unknown_tool: { rest: "UNKNOWN_TOOL", status: 422 },
  auth_failed: { rest: "AUTH_FAILED", status: 401 },
  tool_disabled: { rest: "FORBIDDEN", status: 403 },
  command_denied: { rest: "FORBIDDEN", status: 403 },
  isolation_required: { rest: "FORBIDDEN", status: 403 },
  egress_denied: { rest: "FORBIDDEN", status: 403 },
  path_denied: { rest: "FORBIDDEN", status: 403, linux: "INVALID_PATH" },
  permission_denied: { rest: "FORBIDDEN", status: 403 },
  file_not_found: { rest: "NOT_FOUND", status: 404, linux: "NOT_FOUND" },
  session_not_found: { rest: "NOT_FOUND", status: 404 },
  handle_expired: { rest: "NOT_FOUND", status: 404 },
  not_a_directory: { rest: "BAD_ARGS", status: 422 },
  is_directory: { rest: "BAD_ARGS", status: 422 },
  sha_mismatch: { rest: "CONFLICT", status: 409 },
  edit_mismatch: { rest: "CONFLICT", status: 409 },
  target_exists: { rest: "CONFLICT", status: 409 },
  resource_busy: { rest: "CONFLICT", status: 409, retryable: true },
  file_too_large: { rest: "TOO_LARGE", status: 413, linux: "OUTPUT_TOO_LARGE" },
  request_too_large: { rest: "TOO_LARGE", status: 413, linux: "OUTPUT_TOO_LARGE" },
  rate_limited: { rest: "RATE_LIMITED", status: 429, retryable: true },
  concurrency_limited: { rest: "RATE_LIMITED", status: 429, retryable: true },
  limit_exceeded: { rest: "LIMIT_EXCEEDED", status: 422 },
  budget_exceeded: { rest: "BUDGET_EXCEEDED", status: 422 },
  timeout: { rest: "TIMEOUT", status: 504, retryable: true },
  provider_error: { rest: "PROVIDER_ERROR", status: 502 },
  store_unavailable: { rest: "UNAVAILABLE", status: 503, retryable: true },
  draining: { rest: "UNAVAILABLE", status: 503, retryable: true },
  write_failed: { rest: "INTERNAL", status: 500 },
  internal_error: { rest: "INTERNAL", status: 500, linux: "INTERNAL" },
} as const satisfies Record<string, FaultRow>;

export type FaultCode = keyof typeof FAULTS;

interface FaultOptions {
  /** What the caller can do about it. Safe for the model. */
  readonly hint?: string;
  /** For the log only: never shown to a caller. */
  readonly cause?: unknown;
  /** Overrides the table where it depends on the case (provider errors). */
  readonly retryable?: boolean;
  /** Seconds after which a retry makes sense. */
  readonly retry_after_s?: number;
  /** The policy rule that refused, for the audit. */
  readonly rule?: string;
}

export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly retry_after_s: number | undefined;
  readonly rule: string | undefined;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const row: FaultRow = FAULTS[code];
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? row.retryable ?? false;
    this.retry_after_s = options.retry_after_s;
    this.rule = options.rule;
  }
}

export function linuxWord(code: FaultCode): string {
  const row: FaultRow = FAULTS[code];
  return row.linux ?? code.toUpperCase();
}

/** Whatever was thrown, as a Fault. What is not one is ours to mend: its text goes to the log, not to the caller. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const errno = errnoFault(thrown);
  if (errno) return errno;
  return new Fault("internal_error", "Something failed inside the server.", {
    cause: thrown,
    hint: "The server's log has the cause under this correlation id.",
  });
}

/** System errors that mean the same wherever they come from. */
function errnoFault(thrown: unknown): Fault | undefined {
  switch ((thrown as NodeJS.ErrnoException | undefined)?.code) {
    case "ENOSPC":
    case "EDQUOT":
      return new Fault("write_failed", "The disk is full.", { cause: thrown });
    case "EROFS":
      return new Fault("permission_denied", "The file system is read-only.", { cause: thrown });
    case "EMFILE":
    case "ENFILE":
      return new Fault("resource_busy", "Too many open files; try again.", { cause: thrown });
    default:
      return undefined;
  }
}
