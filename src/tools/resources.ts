import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Fault } from "../base/fault.ts";
import type { Principal } from "../base/principal.ts";
import type { Handles } from "../engines/handles/types.ts";

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

export interface Resources {
  readonly list: readonly Resource[];
  readonly templates: readonly { readonly uriTemplate: string; readonly name: string; readonly mimeType: string }[];
  readonly warnings: readonly string[];
  read(
    owner: Principal,
    uri: string,
  ): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string }>;
  /** Resolves when the job of this resource has ended; undefined for what does not change. */
  ended(owner: Principal, uri: string, signal: AbortSignal): Promise<void> | undefined;
}

interface ResourceDeps {
  readonly sidecars: readonly string[];
  handles(): Promise<Handles>;
  /** The index's facts, where there is an index. */
  indexStats?(): Promise<unknown>;
}

const JOB = /^llmc:\/\/jobs\/(res_[0-9a-z]+)$/;
const INDEX = "llmc://index/stats";
/** As much of a job's result as one read gives; all of it is behind the handle. */
const JOB_LINES = 200;
const WAIT_S = 60;

export function jobUri(handle: string): string {
  return `llmc://jobs/${handle}`;
}

/** What clients may read without a tool: documents of the operator's choice, running jobs, the state of the index. Never sent before it is asked for. */
export function createResources(deps: ResourceDeps): Resources {
  const files = new Map(deps.sidecars.map((path) => [`llmc://docs/${basename(path)}`, path]));
  const mimeType = (path: string) => (path.endsWith(".md") ? "text/markdown" : "text/plain");
  const index = deps.indexStats ? [{ uri: INDEX, name: "Index", mimeType: "application/json" }] : [];
  return {
    list: [...[...files].map(([uri, path]) => ({ uri, name: basename(path), mimeType: mimeType(path) })), ...index],
    templates: [{ uriTemplate: "llmc://jobs/{handle}", name: "Job", mimeType: "application/json" }],
    warnings: [...files.values()]
      .filter((path) => !existsSync(path))
      .map((path) => `mcp.resources.sidecars names ${path}, which does not exist.`),
    async read(owner, uri) {
      const job = JOB.exec(uri)?.[1];
      if (job !== undefined)
        return { uri, mimeType: "application/json", text: await jobText(await deps.handles(), owner, job) };
      if (uri === INDEX && deps.indexStats)
        return { uri, mimeType: "application/json", text: JSON.stringify(await deps.indexStats()) };
      const path = files.get(uri);
      if (path === undefined)
        throw new Fault("file_not_found", `No such resource: ${uri.slice(0, 200)}`, {
          hint: "resources/list has them all.",
        });
      return { uri, mimeType: mimeType(path), text: documentText(uri, path) };
    },
    ended(owner, uri, signal) {
      const job = JOB.exec(uri)?.[1];
      return job === undefined ? undefined : whenEnded(deps, owner, job, signal);
    },
  };
}

async function jobText(handles: Handles, owner: Principal, handle: string): Promise<string> {
  const { state, progress } = await handles.info(owner, handle);
  if (state === "running") return JSON.stringify({ handle, state, progress });
  const { content, meta } = await handles.readLines(owner, handle, 0, JOB_LINES);
  return JSON.stringify({ handle, state, content, truncated: meta.truncated });
}

async function whenEnded(deps: ResourceDeps, owner: Principal, handle: string, signal: AbortSignal): Promise<void> {
  const handles = await deps.handles();
  while (!signal.aborted && (await handles.info(owner, handle)).state === "running")
    await handles.wait(owner, handle, WAIT_S, signal);
}

function documentText(uri: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Fault("file_not_found", `The document behind ${uri} cannot be read.`, {
      cause,
      hint: "The operator lists it in mcp.resources.sidecars.",
    });
  }
}
