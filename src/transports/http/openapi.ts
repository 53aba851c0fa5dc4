import type { ListedTool } from "../../tools/surface.ts";
import { ROUTES } from "./rest.ts";

type Json = Record<string, unknown>;

const ERROR: Json = {
  type: "object",
  required: ["code", "message", "correlation_id"],
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    hint: { type: "string" },
    correlation_id: { type: "string" },
  },
};

/** The plain JSON endpoints, described from their table and from the list of tools. */
export function openApi(version: string, tools: readonly ListedTool[], header: string): Json {
  const secured = [{ token: [] }, { bearer: [] }];
  const paths: Record<string, Json> = {
    "/health": {
      get: { summary: "Whether the server is up; with a token, more", responses: { "200": { description: "OK" } } },
    },
  };
  for (const route of ROUTES)
    paths[route.path] = {
      post: {
        summary: route.about,
        security: secured,
        requestBody: {
          required: true,
          content: { "application/json": { schema: bodyOf(route.path, route.required, tools) } },
        },
        responses: responses(),
      },
    };
  return {
    openapi: "3.1.0",
    info: { title: "LLMC", version },
    paths,
    components: {
      schemas: { Error: ERROR },
      securitySchemes: {
        token: { type: "apiKey", in: "header", name: header },
        bearer: { type: "http", scheme: "bearer" },
      },
    },
  };
}

function bodyOf(path: string, required: readonly string[], tools: readonly ListedTool[]): Json {
  if (path !== "/tool")
    return {
      type: "object",
      required,
      properties: Object.fromEntries(required.map((name) => [name, { type: "string" }])),
    };
  return {
    oneOf: tools.map((tool) => ({
      title: tool.name,
      description: tool.description,
      type: "object",
      required: ["name"],
      properties: { session_id: { type: "string" }, name: { const: tool.name }, args: tool.inputSchema },
    })),
  };
}

function responses(): Json {
  const error = (description: string) => ({
    description,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  });
  return {
    "200": { description: "The payload" },
    "401": error("No token, or an unknown one"),
    "403": error("Not allowed"),
    "404": error("Not found"),
    "409": error("Conflict"),
    "413": error("Too large"),
    "422": error("Wrong arguments"),
    "429": error("Too many requests"),
    "500": error("Internal"),
    "503": error("Not available now"),
  };
}
