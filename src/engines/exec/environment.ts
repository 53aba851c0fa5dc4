import type { AllowedCommand } from "../../base/command.ts";

/** Variables of the server that a child may see: how to write and sort text, and where toolchains lie. No secrets live in these. */
const EVERYBODY = ["LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "TZ"];
const TOOLCHAINS = [
  "CARGO_HOME",
  "RUSTUP_HOME",
  "PYENV_ROOT",
  "NVM_DIR",
  "VOLTA_HOME",
  "ASDF_DIR",
  "GOROOT",
  "GOPATH",
  "JAVA_HOME",
  "SDKMAN_DIR",
];

/** Who a command is run for. */
export interface SessionFacts {
  readonly agent_id: string;
  readonly session_id: string;
  readonly model: string;
}

export interface EnvironmentFacts {
  /** The server's variables, from which only the names above are taken. */
  readonly inherit: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly user: string;
  readonly system_path: string;
  readonly project_path: string;
}

/** Builds the environment of a child from nothing. */
export function childEnvironment(
  facts: EnvironmentFacts,
  command: AllowedCommand,
  session?: SessionFacts,
): Record<string, string> {
  const isReader = command.class === "reader";
  const env: Record<string, string> = {
    PATH: isReader ? facts.system_path : facts.project_path,
    HOME: isReader ? "/nonexistent" : facts.home,
    USER: facts.user,
    LOGNAME: facts.user,
    TERM: "dumb",
    LANG: "C.UTF-8",
  };
  for (const name of EVERYBODY) copy(name, env, facts.inherit);
  if (!isReader) for (const name of TOOLCHAINS) copy(name, env, facts.inherit);
  if (!isReader) env.TMPDIR = "/tmp";
  if (session) {
    env.TE_AGENT_ID = oneLine(session.agent_id);
    env.TE_SESSION_ID = oneLine(session.session_id);
    env.TE_MODEL = oneLine(session.model);
  }
  return { ...env, ...command.env };
}

function copy(name: string, env: Record<string, string>, from: EnvironmentFacts["inherit"]): void {
  const value = from[name];
  if (value !== undefined && value.length <= 4096 && !/[\0\n]/.test(value)) env[name] = value;
}

function oneLine(value: string): string {
  return value.replace(/[\0-\x1f\x7f]/g, " ").slice(0, 200);
}
