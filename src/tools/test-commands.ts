import { Fault } from "../base/fault.ts";
import type { Principal } from "../base/principal.ts";
import type { SessionContext, ToolContext, Via } from "../core/context.ts";
import { validate } from "../core/schema.ts";
import { countTokens } from "../core/tokens.ts";
import type { Tool } from "../core/tool.ts";
import { createEnvelope, type EnvelopeOptions } from "../engines/envelope/index.ts";
import { teOptions } from "../engines/envelope/options.ts";
import { ME, type TestExec, testExec } from "../engines/exec/test-exec.ts";
import { createHandles, handlesOptions } from "../engines/handles/index.ts";

type Options = Parameters<typeof testExec>[0];
type Deps = Parameters<typeof testExec>[1];

export interface CommandBed extends AsyncDisposable {
  readonly test: TestExec;
  /** One call as dispatch makes it: arguments validated, the payload held against the tool's own schema. */
  call<T = Record<string, never>>(tool: Tool, args?: Record<string, unknown>, more?: Partial<CallFacts>): Promise<T>;
  /** The whole of what a handle keeps. */
  handle(id: string): Promise<string>;
  readonly rules: string[];
}

interface CallFacts {
  readonly principal: Principal;
  readonly via: Via;
  readonly session: SessionContext;
  readonly signal: AbortSignal;
}

/** Tools on a real engine and a real store, without the rest of the server. */
export function commandBed(options: Options = {}, deps: Deps = {}, te: Partial<EnvelopeOptions> = {}): CommandBed {
  const test = testExec(options, deps);
  const { roots, state_dir } = test;
  const handles = createHandles(handlesOptions.parse({}), { state_dir, roots });
  const envelope = createEnvelope(
    { ...teOptions.parse({}), budgets: {}, ...te },
    { state_dir, countTokens, prepare: () => {} },
  );
  const rules: string[] = [];
  const engines = { exec: async () => test.exec, handles: async () => handles, envelope: async () => envelope };
  const facts: CallFacts = {
    principal: ME,
    via: "stdio",
    session: { agent_id: "agent", session_id: "session", model: "model", budget_profile: "default" },
    signal: new AbortController().signal,
  };
  return {
    test,
    rules,
    async call<T>(tool: Tool, args: Record<string, unknown> = {}, more: Partial<CallFacts> = {}) {
      const context = {
        ...facts,
        ...more,
        ...engines,
        roots,
        audit: ({ rule }: { rule?: string }) => rule && rules.push(rule),
      };
      const payload = await tool.run(validate(tool, args), context as unknown as ToolContext);
      const checked = tool.output().safeParse(payload);
      if (!checked.success) throw new Fault("internal_error", `${tool.name}: ${checked.error.message}`);
      return payload as T;
    },
    async handle(id) {
      return Buffer.from((await handles.readBytes(ME, id, 0, 1 << 26)).bytes).toString();
    },
    async [Symbol.asyncDispose]() {
      envelope.close();
      await handles.close();
      await test[Symbol.asyncDispose]();
    },
  };
}
