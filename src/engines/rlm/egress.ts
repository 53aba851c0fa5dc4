import { Fault } from "../../base/fault.ts";
import type { AllowedModel, Dialect, Price } from "../../base/model.ts";
import { isLoopback } from "../../base/net/index.ts";
import type { RlmOptions, RlmPolicy } from "./options.ts";
import { FREE, priceOf, UNKNOWN_PRICE } from "./prices.ts";

interface Provider {
  readonly dialect: Dialect;
  readonly base_url: string;
  readonly api_key_env?: string;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  ollama_chat: { dialect: "ollama", base_url: "http://127.0.0.1:11434" },
  ollama: { dialect: "ollama", base_url: "http://127.0.0.1:11434" },
  openai: { dialect: "openai", base_url: "https://api.openai.com/v1", api_key_env: "OPENAI_API_KEY" },
  anthropic: { dialect: "anthropic", base_url: "https://api.anthropic.com/v1", api_key_env: "ANTHROPIC_API_KEY" },
};

const LOCAL_PREFIXES = ["ollama_chat/", "ollama/"];

export interface Models {
  /** The one that writes code: the configured one, or the one that a call names, where that is allowed. */
  root(override?: string): AllowedModel;
  /** The one that answers sub-calls. */
  sub(root: AllowedModel): AllowedModel;
  /** A model that code asks for by name: the same rules as for a call. */
  named(name: string, known: readonly AllowedModel[]): AllowedModel;
}

/** The only maker of AllowedModel. Every refusal says what to change. */
export function createModels(
  policy: RlmPolicy,
  options: RlmOptions,
  secret: (variable: string) => string | undefined,
): Models {
  const isRestricted = policy.profile === "restricted";
  const prefixes = policy.allowed_model_prefixes ?? (isRestricted ? LOCAL_PREFIXES : []);

  function mint(name: string): AllowedModel {
    checkPrefix(name);
    const slash = name.indexOf("/");
    const provider = providerOf(slash > 0 ? name.slice(0, slash) : "", name);
    const is_local = isLocal(provider.base_url);
    const variable = provider.api_key_env;
    return {
      name,
      id: name.slice(slash + 1),
      dialect: provider.dialect,
      base_url: provider.base_url.replace(/\/+$/, ""),
      is_local,
      price: priceFor(name, is_local),
      key: () => (variable === undefined ? undefined : secret(variable)?.trim() || undefined),
    } as AllowedModel;
  }

  function checkPrefix(name: string): void {
    if (isRestricted && prefixes.length === 0)
      throw denied(
        "The restricted profile allows no model.",
        "mcp.rlm.allowed_model_prefixes is empty: list prefixes.",
      );
    if (prefixes.length > 0 && !prefixes.some((prefix) => name.startsWith(prefix)))
      throw denied(
        `Models named ${shown(name)} are not allowed here.`,
        `mcp.rlm.allowed_model_prefixes allows ${prefixes.join(", ")}.`,
      );
  }

  function providerOf(prefix: string, name: string): Provider {
    const known = Object.hasOwn(PROVIDERS, prefix) ? PROVIDERS[prefix] : undefined;
    const own = Object.hasOwn(options.providers, prefix) ? options.providers[prefix] : undefined;
    const base_url = own?.base_url ?? known?.base_url;
    if (base_url === undefined)
      throw denied(
        `It is not known where ${shown(name)} is.`,
        `Use ${Object.keys(PROVIDERS).join("/, ")}/, or set base_url in [rlm.providers.${shown(prefix) || "PREFIX"}].`,
      );
    const api_key_env = own?.api_key_env ?? known?.api_key_env;
    return { dialect: known?.dialect ?? "openai", base_url, ...(api_key_env === undefined ? {} : { api_key_env }) };
  }

  function priceFor(name: string, is_local: boolean): Price {
    const known = priceOf(name, options.pricing);
    if (known || is_local) return known ?? FREE;
    if (!isRestricted) return UNKNOWN_PRICE;
    throw denied(
      `The price of ${shown(name)} is not known, so no budget would hold.`,
      `Set input_usd_per_mtok and output_usd_per_mtok in [rlm.pricing."${shown(name)}"].`,
    );
  }

  function overridden(name: string): AllowedModel {
    if (isRestricted) throw denied("The restricted profile does not let a call name its model.", "Leave model out.");
    if (!policy.allow_model_override)
      throw denied(
        "A call may not name its model here.",
        "Leave model out, or set mcp.rlm.allow_model_override = true.",
      );
    return mint(name);
  }

  return {
    root(override) {
      if (override !== undefined && override !== options.root_model) return overridden(override);
      if (options.root_model !== undefined) return mint(options.root_model);
      throw new Fault("invalid_args", "No model is configured.", {
        hint: 'The operator sets rlm.root_model in llmc.toml, such as "ollama_chat/NAME".',
      });
    },
    sub: (root) => (options.sub_model === undefined ? root : mint(options.sub_model)),
    named: (name, known) => known.find((model) => model.name === name) ?? overridden(name),
  };
}

/** By its letters, without asking a resolver: what is not plainly this machine is another. */
function isLocal(base_url: string): boolean {
  const { hostname } = new URL(base_url);
  return hostname === "localhost" || isLoopback(hostname);
}

function denied(message: string, hint: string): Fault {
  return new Fault("egress_denied", message, { hint, rule: "rlm.models" });
}

function shown(name: string): string {
  return name.replace(/[^\w./:@-]/g, "?").slice(0, 80);
}
