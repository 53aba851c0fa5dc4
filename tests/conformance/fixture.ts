import {
  type CallToolResult,
  type ClientCapabilities,
  createRequestStateCodec,
  type GetPromptResult,
  inputRequired,
  inputResponse,
  McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** What the official suite expects of the server it tests. It stands on our HTTP transport and exists for tests only. */

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const NO_ARGUMENTS = { type: "object" as const, properties: {} };
const states = createRequestStateCodec<string>({ key: "a key that only the tests know, 32 bytes" });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

type Content = CallToolResult["content"];
type Answer = CallToolResult | ReturnType<typeof inputRequired>;
type Changed = (what: "tools" | "prompts") => void;
type Handler = (
  args: Record<string, unknown>,
  ctx: ServerContext,
  server: Server,
  changed: Changed,
) => Promise<Answer> | Answer;

interface FixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { type: "object"; [key: string]: unknown };
  readonly run: Handler;
}

function say(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function content(...parts: Content): CallToolResult {
  return { content: parts };
}

const IMAGE = { type: "image" as const, data: PIXEL, mimeType: "image/png" };

function tool(name: string, run: Handler, inputSchema: FixtureTool["inputSchema"] = NO_ARGUMENTS): FixtureTool {
  return { name, description: `Conformance fixture ${name}`, inputSchema, run };
}

const text = (name: string) => ({
  type: "object" as const,
  properties: { [name]: { type: "string" } },
  required: [name],
});
const ask = (message: string, properties: Record<string, unknown>) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties, required: Object.keys(properties) } as never,
  });
const askName = () => ask("What is your name?", { name: { type: "string" } });
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens });

function capabilities(ctx: ServerContext, server: Server): ClientCapabilities {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  return (
    (envelope?.["io.modelcontextprotocol/clientCapabilities"] as ClientCapabilities | undefined) ??
    server.getClientCapabilities() ??
    {}
  );
}

function accepted(ctx: ServerContext, key: string): Record<string, unknown> | undefined {
  const answer = inputResponse(ctx.mcpReq.inputResponses, key);
  return answer.kind === "elicit" && answer.action === "accept" ? (answer.content ?? {}) : undefined;
}

async function log(ctx: ServerContext, ...lines: string[]): Promise<void> {
  for (const line of lines) {
    await ctx.mcpReq.log("info", line);
    await pause();
  }
}

async function report(ctx: ServerContext): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    await pause();
  }
}

async function elicited(
  ctx: ServerContext,
  message: string,
  properties: Record<string, unknown>,
  required: string[] = [],
): Promise<string> {
  const result = await ctx.mcpReq.elicitInput({
    message,
    requestedSchema: { type: "object", properties, required } as never,
  });
  return `action=${result.action}, content=${JSON.stringify(result.content ?? {})}`;
}

const CHOICES = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
];
const OPTIONS = ["option1", "option2", "option3"];

const TOOLS: readonly FixtureTool[] = [
  tool("test_simple_text", () => say("This is a simple text response for testing.")),
  tool("test_image_content", () => content(IMAGE)),
  tool("test_audio_content", () => content({ type: "audio", data: SILENCE, mimeType: "audio/wav" })),
  tool("test_embedded_resource", () =>
    content({
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }),
  ),
  tool("test_multiple_content_types", () =>
    content({ type: "text", text: "Multiple content types test:" }, IMAGE, {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: '{"test":"data","value":123}',
      },
    }),
  ),
  tool("test_tool_with_logging", async (_args, ctx) => {
    await log(ctx, "Tool execution started", "Tool processing data", "Tool execution completed");
    return say("done");
  }),
  tool("test_logging_tool", async (_args, ctx) => {
    await log(ctx, "A line for those who asked for lines");
    return say("done");
  }),
  tool("test_error_handling", () => ({
    ...say("This tool intentionally returns an error for testing"),
    isError: true,
  })),
  tool("test_tool_with_progress", async (_args, ctx) => {
    await report(ctx);
    return say("done");
  }),
  tool(
    "test_sampling",
    async (args, ctx) => {
      const result = await ctx.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: String(args["prompt"]) } }],
        maxTokens: 100,
      });
      const part = Array.isArray(result.content) ? result.content[0] : result.content;
      return say(`LLM response: ${part && "text" in part ? part.text : ""}`);
    },
    text("prompt"),
  ),
  tool(
    "test_elicitation",
    async (args, ctx) =>
      say(
        `User response: <${await elicited(ctx, String(args["message"]), { username: { type: "string", description: "User's response" }, email: { type: "string", description: "User's email address" } }, ["username", "email"])}>`,
      ),
    text("message"),
  ),
  tool("test_elicitation_sep1034_defaults", async (_args, ctx) =>
    say(
      `Elicitation completed: ${await elicited(ctx, "Please review", {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      })}`,
    ),
  ),
  tool("test_elicitation_sep1330_enums", async (_args, ctx) =>
    say(
      `Elicitation completed: ${await elicited(ctx, "Please choose", {
        untitledSingle: { type: "string", enum: OPTIONS },
        titledSingle: { type: "string", oneOf: CHOICES },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
        titledMulti: { type: "array", items: { anyOf: CHOICES } },
      })}`,
    ),
  ),
  tool("test_reconnection", async (_args, ctx) => {
    ctx.http?.closeSSE?.();
    await pause();
    return say("Reconnected and finished");
  }),
  tool("json_schema_2020_12_tool", () => say("ok"), {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  }),
  tool("test_mirrored_header", (args) => say(`region: ${String(args["region"])}`), {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  }),
  tool("test_missing_capability", (_args, ctx, server) => {
    if (!capabilities(ctx, server).sampling)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return say("The capability is there");
  }),
  tool("test_streaming_elicitation", async (_args, ctx) => {
    await report(ctx);
    return accepted(ctx, "user_name") ? say("done") : inputRequired({ inputRequests: { user_name: askName() } });
  }),
  tool("test_trigger_tool_change", (_args, _ctx, _server, changed) => {
    changed("tools");
    return say("done");
  }),
  tool("test_trigger_prompt_change", (_args, _ctx, _server, changed) => {
    changed("prompts");
    return say("done");
  }),
  tool("test_input_required_result_elicitation", (_args, ctx) => {
    const answer = accepted(ctx, "user_name");
    return typeof answer?.["name"] === "string"
      ? say(`Hello, ${answer["name"]}!`)
      : inputRequired({ inputRequests: { user_name: askName() } });
  }),
  tool("test_input_required_result_sampling", (_args, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, "capital_question");
    if (answer.kind !== "sampling")
      return inputRequired({ inputRequests: { capital_question: sample("What is the capital of France?", 100) } });
    const part = Array.isArray(answer.result.content) ? answer.result.content[0] : answer.result.content;
    return say(part && "text" in part ? part.text : "");
  }),
  tool("test_input_required_result_list_roots", (_args, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, "client_roots");
    return answer.kind === "roots"
      ? say(answer.roots.map((root) => root.uri).join(", "))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  }),
  tool("test_input_required_result_request_state", async (_args, ctx) => {
    const state = ctx.mcpReq.requestState<string>();
    if (accepted(ctx, "confirm") && state === "confirming") return say("state-ok");
    return inputRequired({
      inputRequests: { confirm: ask("Please confirm", { ok: { type: "boolean" } }) },
      requestState: await states.mint("confirming", ctx),
    });
  }),
  tool("test_input_required_result_tampered_state", async (_args, ctx) => {
    if (accepted(ctx, "confirm") && ctx.mcpReq.requestState<string>() === "confirming") return say("state-ok");
    return inputRequired({
      inputRequests: { confirm: ask("Please confirm", { ok: { type: "boolean" } }) },
      requestState: await states.mint("confirming", ctx),
    });
  }),
  tool("test_input_required_result_multiple_inputs", async (_args, ctx) => {
    const all = ["user_name", "greeting", "client_roots"].every(
      (key) => inputResponse(ctx.mcpReq.inputResponses, key).kind !== "missing",
    );
    if (all) return say("All inputs are there");
    return inputRequired({
      inputRequests: {
        user_name: askName(),
        greeting: sample("Generate a greeting", 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint("collecting", ctx),
    });
  }),
  tool("test_input_required_result_multi_round", async (_args, ctx) => {
    const state = ctx.mcpReq.requestState<string>();
    if (state === "round 2" && accepted(ctx, "step2")) return say("All rounds are done");
    if (state === "round 1" && accepted(ctx, "step1"))
      return inputRequired({
        inputRequests: { step2: ask("Step 2: What is your favorite color?", { color: { type: "string" } }) },
        requestState: await states.mint("round 2", ctx),
      });
    return inputRequired({
      inputRequests: { step1: ask("Step 1: What is your name?", { name: { type: "string" } }) },
      requestState: await states.mint("round 1", ctx),
    });
  }),
  tool("test_input_required_result_capabilities", (_args, ctx, server) => {
    const { elicitation, sampling } = capabilities(ctx, server);
    return inputRequired({
      inputRequests: {
        ...(sampling ? { question: sample("What now?", 50) } : {}),
        ...(elicitation ? { user_name: askName() } : {}),
      },
    });
  }),
];

type PromptAnswer = GetPromptResult | ReturnType<typeof inputRequired>;

interface FixturePrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments?: { name: string; description: string; required: boolean }[];
  readonly run: (args: Record<string, string>, ctx: ServerContext) => PromptAnswer;
}

const user = (part: GetPromptResult["messages"][number]["content"]) => ({ role: "user" as const, content: part });
const needs = (...names: string[]) => names.map((name) => ({ name, description: `The ${name}`, required: true }));

const PROMPTS: readonly FixturePrompt[] = [
  {
    name: "test_simple_prompt",
    description: "A prompt",
    run: () => ({ messages: [user({ type: "text", text: "This is a simple prompt for testing." })] }),
  },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with arguments",
    arguments: needs("arg1", "arg2"),
    run: ({ arg1, arg2 }) => ({
      messages: [user({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
    }),
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt with a resource",
    arguments: needs("resourceUri"),
    run: ({ resourceUri }) => ({
      messages: [
        user({
          type: "resource",
          resource: { uri: resourceUri ?? "", mimeType: "text/plain", text: "Embedded resource content for testing." },
        }),
        user({ type: "text", text: "Please process the embedded resource above." }),
      ],
    }),
  },
  {
    name: "test_prompt_with_image",
    description: "A prompt with an image",
    run: () => ({ messages: [user(IMAGE), user({ type: "text", text: "Please analyze the image above." })] }),
  },
  {
    name: "test_input_required_result_prompt",
    description: "A prompt that asks back",
    run: (_args, ctx) => {
      const answer = accepted(ctx, "user_context");
      if (!answer)
        return inputRequired({
          inputRequests: { user_context: ask("What context should the prompt use?", { context: { type: "string" } }) },
        });
      return { messages: [user({ type: "text", text: `Context: ${String(answer["context"])}` })] };
    },
  },
];

const RESOURCES = [
  { uri: "test://static-text", name: "Static text", description: "A text that stays", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "Static binary", description: "A pixel", mimeType: "image/png" },
  {
    uri: "test://watched-resource",
    name: "Watched",
    description: "A text that can be watched",
    mimeType: "text/plain",
  },
];

function readResource(uri: string) {
  if (uri === "test://static-text")
    return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: PIXEL };
  if (uri === "test://watched-resource") return { uri, mimeType: "text/plain", text: "Watched." };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined)
    return {
      uri,
      mimeType: "application/json",
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    };
  throw new ProtocolError(-32602, "Resource not found", { uri });
}

const HINT = { ttlMs: 60_000, cacheScope: "private" as const };

/** One server for a request or a session, as the transport asks for it. */
export function createFixtureServer(changed: Changed): McpServer {
  const whole = new McpServer(
    { name: "llmc-conformance-fixture", version: "1" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      cacheHints: {
        "tools/list": HINT,
        "prompts/list": HINT,
        "resources/list": HINT,
        "resources/templates/list": HINT,
        "resources/read": HINT,
      },
      requestState: { verify: states.verify },
    },
  );
  const { server } = whole;
  // The library checks mirrored headers against schemas it knows by this name; ours are plain JSON.
  Object.assign(whole, {
    toolInputSchemaJson: (asked: string) => TOOLS.find(({ name }) => name === asked)?.inputSchema,
  });
  server.setRequestHandler("tools/list", () => ({
    tools: TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  }));
  server.setRequestHandler("tools/call", async (request, ctx) => {
    const found = TOOLS.find(({ name }) => name === request.params.name);
    if (!found) throw new ProtocolError(-32602, `Unknown tool ${request.params.name}`);
    return found.run(request.params.arguments ?? {}, ctx, server, changed);
  });
  server.setRequestHandler("prompts/list", () => ({ prompts: PROMPTS.map(({ run: _run, ...prompt }) => prompt) }));
  server.setRequestHandler("prompts/get", (request, ctx) => {
    const found = PROMPTS.find(({ name }) => name === request.params.name);
    if (!found) throw new ProtocolError(-32602, `Unknown prompt ${request.params.name}`);
    return found.run(request.params.arguments ?? {}, ctx);
  });
  server.setRequestHandler("resources/list", () => ({ resources: RESOURCES }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [
      {
        uriTemplate: "test://template/{id}/data",
        name: "Template",
        description: "Data by id",
        mimeType: "application/json",
      },
    ],
  }));
  server.setRequestHandler("resources/read", (request) => ({ contents: [readResource(request.params.uri)] }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("completion/complete", (request) => ({
    completion: {
      values: ["paris", "park", "party"].filter((word) => word.startsWith(request.params.argument.value)),
      hasMore: false,
    },
  }));
  return whole;
}
