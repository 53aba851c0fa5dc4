import { hash, timingSafeEqual } from "node:crypto";
import { Fault } from "../../base/fault.ts";
import { mintPrincipal, type Principal } from "../../base/principal.ts";
import type { HeaderList } from "./headers.ts";
import type { AuthOptions } from "./options.ts";

export interface Caller {
  readonly principal: Principal;
  /** Globs of tools that the token may call. */
  readonly tools: readonly string[];
}

export interface Auth {
  /** Who sends these headers; throws auth_failed. */
  identify(headers: HeaderList): Caller;
  /** The same, but undefined when no token was sent at all. */
  identifyIfAny(headers: HeaderList): Caller | undefined;
}

interface Known {
  readonly caller: Caller;
  readonly digest: Buffer;
}

const EVERY_TOOL = ["*"];

/** Tokens are compared as digests, in constant time. A server that could not tell its callers apart does not start. */
export function createAuth(
  options: AuthOptions,
  env: Readonly<Record<string, string | undefined>>,
  is_loopback: boolean,
): Auth {
  const known = knownTokens(options, env);
  const open = isOpen(options, is_loopback, known.length);
  const anyone: Caller = { principal: mintPrincipal("local", process.getuid?.() ?? 0), tools: EVERY_TOOL };

  function identifyIfAny(headers: HeaderList): Caller | undefined {
    const sent = tokenIn(headers, options.header);
    if (sent === undefined) return open ? anyone : undefined;
    const digest = sha256(sent);
    // Every token is compared, so that the time does not tell which one was close.
    let found: Caller | undefined;
    for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one.caller;
    if (!found) throw refused("The token is not one that this server was started with.");
    return found;
  }

  return {
    identifyIfAny,
    identify(headers) {
      const caller = identifyIfAny(headers);
      if (!caller) throw refused("No token was sent.");
      return caller;
    },
  };

  function refused(message: string): Fault {
    return new Fault("auth_failed", message, {
      hint: `Send it as ${options.header}, or as Authorization: Bearer.`,
      rule: "auth",
    });
  }
}

function isOpen(options: AuthOptions, is_loopback: boolean, tokens: number): boolean {
  if (options.allow_unauthenticated && is_loopback) return true;
  if (options.allow_unauthenticated && options.mode === "none")
    throw new Fault("invalid_args", "mcp.auth.allow_unauthenticated is honoured on loopback only.", {
      hint: "Listen on 127.0.0.1, or set a token.",
    });
  if (options.mode === "none")
    throw new Fault("invalid_args", 'mcp.auth.mode = "none" needs mcp.auth.allow_unauthenticated = true.', {
      hint: "Or set a token.",
    });
  if (tokens === 0)
    throw new Fault("invalid_args", `No token: ${options.token_env} is not set, and [[mcp.auth.tokens]] is empty.`, {
      hint: `Start with ${options.token_env}=$(openssl rand -hex 32) in the environment.`,
    });
  return false;
}

function knownTokens(options: AuthOptions, env: Readonly<Record<string, string | undefined>>): Known[] {
  const single = env[options.token_env];
  const known: Known[] = single ? [entry("default", EVERY_TOOL, sha256(checked(options.token_env, single)))] : [];
  for (const one of options.tokens) {
    if (one.sha256 !== undefined) known.push(entry(one.name, one.tools, Buffer.from(one.sha256, "hex")));
    else known.push(entry(one.name, one.tools, sha256(checked(one.token_env!, env[one.token_env!]))));
  }
  const names = known.map(({ caller }) => caller.principal);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Fault("invalid_args", `Two tokens have the name ${twice.replace("token:", "")}.`);
  return known;
}

const SHORTEST = 16;

function checked(variable: string, value: string | undefined): string {
  if (!value)
    throw new Fault("invalid_args", `${variable} is named in mcp.auth and not set.`, {
      hint: `Start with ${variable}=$(openssl rand -hex 32) in the environment.`,
    });
  if (value.length < SHORTEST)
    throw new Fault("invalid_args", `The token in ${variable} is shorter than ${SHORTEST} characters.`, {
      hint: "Use a random one: openssl rand -hex 32",
    });
  return value;
}

function entry(name: string, tools: readonly string[], digest: Buffer): Known {
  return { caller: { principal: mintPrincipal("token", name), tools }, digest };
}

/** One token, in one place. Two that differ, or one header sent twice, are no token. */
function tokenIn(headers: HeaderList, header: string): string | undefined {
  const own = headers.get(header) ?? undefined;
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (own !== undefined && bearer !== undefined && own !== bearer) return "two different tokens";
  return own ?? bearer;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
