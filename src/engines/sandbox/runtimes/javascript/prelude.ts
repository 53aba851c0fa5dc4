/**
 * What a cell finds in its world besides the language: a console, timers, files of the workspace and the tools. Written in the guest's
 * own language and run before the pristine image is taken. `host` is the only thing in it that reaches out.
 */
export const PRELUDE = String.raw`
(() => {
  const host = globalThis.__host;
  const files = globalThis.__files;
  delete globalThis.__host;
  delete globalThis.__files;
  const hide = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  const { stringify, parse } = JSON;

  const quote = (text) => (text.includes("'") ? stringify(text) : "'" + stringify(text).slice(1, -1).replaceAll('\\"', '"') + "'");
  function inspect(value, depth = 0, seen = new Set()) {
    if (typeof value === "string") return depth === 0 ? value : quote(value);
    if (typeof value === "bigint") return value + "n";
    if (typeof value === "symbol") return value.toString();
    if (typeof value === "function") return /^class\b/.test(Function.prototype.toString.call(value)) ? "[class " + value.name + "]" : "[Function: " + (value.name || "anonymous") + "]";
    if (value === null || typeof value !== "object") return Object.is(value, -0) ? "-0" : String(value);
    if (seen.has(value)) return "[Circular]";
    if (value instanceof Error) return depth === 0 ? explain(value) : "[" + value.name + ": " + value.message + "]";
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return "Promise {}";
    if (depth > 4) return Array.isArray(value) ? "[Array]" : "[Object]";
    seen.add(value);
    const inner = (item) => inspect(item, depth + 1, seen);
    const many = (items, show) => {
      const shown = [];
      let count = 0;
      for (const item of items) {
        if (++count > 100) { shown.push("... more items"); break; }
        shown.push(show(item));
      }
      return shown;
    };
    let text;
    if (Array.isArray(value)) text = "[" + wrap(many(value, inner)) + "]";
    else if (ArrayBuffer.isView(value)) text = value.constructor.name + "(" + value.length + ") [" + wrap(many(value, String)) + "]";
    else if (value instanceof Map) text = "Map(" + value.size + ") {" + wrap(many(value, ([k, v]) => inner(k) + " => " + inner(v))) + "}";
    else if (value instanceof Set) text = "Set(" + value.size + ") {" + wrap(many(value, inner)) + "}";
    else {
      const name = value.constructor && value.constructor !== Object ? value.constructor.name + " " : "";
      const key = (k) => (/^[A-Za-z_$][\w$]*$/.test(k) ? k : quote(k));
      text = name + "{" + wrap(many(Object.keys(value), (k) => key(k) + ": " + inner(value[k]))) + "}";
    }
    seen.delete(value);
    return text;
  }
  const wrap = (items) => {
    if (items.length === 0) return "";
    const line = items.join(", ");
    return line.length <= 72 && !line.includes("\n") ? " " + line + " " : "\n  " + items.join(",\n").replaceAll("\n", "\n  ") + "\n";
  };
  function format(args) {
    if (args.length > 1 && typeof args[0] === "string" && /%[sdifjoO]/.test(args[0])) {
      let next = 1;
      const text = args[0].replace(/%([sdifjoO%])/g, (whole, kind) => {
        if (kind === "%") return "%";
        if (next >= args.length) return whole;
        const value = args[next++];
        if (kind === "d") return String(Number(value));
        if (kind === "i") return String(Math.trunc(Number(value)));
        if (kind === "f") return String(parseFloat(value));
        if (kind === "j") return stringify(value);
        return kind === "s" && typeof value !== "object" ? String(value) : inspect(value, 1);
      });
      args = [text, ...args.slice(next)];
    }
    return args.map((value) => inspect(value)).join(" ") + "\n";
  }
  /** The user's own frames, and the message. */
  function explain(error) {
    if (!(error instanceof Error)) return "Uncaught " + inspect(error, 1);
    const frames = String(error.stack ?? "").split("\n").filter((line) => line.includes("(cell ") || line.includes("at cell ")).slice(0, 20);
    const cause = error.cause === undefined ? "" : "\n  [cause]: " + inspect(error.cause, 1);
    return [error.name + ": " + error.message, ...frames].join("\n") + cause;
  }

  const full = { stdout: false, stderr: false };
  const print = (stream) => (...args) => {
    // What would be dropped is not made.
    if (!full[stream]) full[stream] = host(stream, format(args)) === true;
  };
  const out = print("stdout");
  const err = print("stderr");
  const counts = new Map();
  const table = (rows) => {
    if (rows === null || typeof rows !== "object") return out(rows);
    const list = Object.entries(rows).map(([k, v]) => [k, v !== null && typeof v === "object" ? v : { Values: v }]);
    const columns = [...new Set(list.flatMap(([, row]) => Object.keys(row)))];
    out(["(index)", ...columns].join("\t"));
    for (const [k, row] of list) out([k, ...columns.map((c) => (c in row ? inspect(row[c], 1) : ""))].join("\t"));
  };
  hide("console", {
    log: out, info: out, debug: out, warn: err, error: err, trace: err, table,
    dir: (value) => out(inspect(value, 1)),
    assert: (ok, ...rest) => { if (!ok) err("Assertion failed:", ...rest); },
    count: (label = "default") => { counts.set(label, (counts.get(label) ?? 0) + 1); out(label + ": " + counts.get(label)); },
    group: out, groupEnd() {}, time() {}, timeEnd() {},
  });

  let timers = [];
  let ids = 0;
  const addTimer = (callback, ms, every, args) => {
    const delay = Math.max(every ? 1 : 0, Number(ms) || 0);
    timers.push({ id: ++ids, at: Date.now() + delay, callback, args, every: every ? delay : undefined });
    return ids;
  };
  const dropTimer = (id) => { timers = timers.filter((timer) => timer.id !== id); };
  hide("setTimeout", (callback, ms, ...args) => addTimer(callback, ms, false, args));
  hide("setInterval", (callback, ms, ...args) => addTimer(callback, ms, true, args));
  hide("setImmediate", (callback, ...args) => addTimer(callback, 0, false, args));
  for (const name of ["clearTimeout", "clearInterval", "clearImmediate"]) hide(name, dropTimer);
  /** Runs one timer that is due; says in how many milliseconds the next one is, or -1. */
  const tick = () => {
    if (timers.length === 0) return -1;
    const next = timers.reduce((a, b) => (b.at < a.at ? b : a));
    const left = next.at - Date.now();
    if (left > 0) return left;
    if (next.every === undefined) dropTimer(next.id);
    else next.at = Date.now() + next.every;
    next.callback(...next.args);
    return 0;
  };

  let s = [1, 2, 3, 4];
  const random = () => {
    const t = (((s[0] + s[1]) | 0) + s[3]) | 0;
    s[3] = (s[3] + 1) | 0;
    s[0] = s[1] ^ (s[1] >>> 9);
    s[1] = (s[2] + (s[2] << 3)) | 0;
    s[2] = ((s[2] << 21) | (s[2] >>> 11)) + t;
    return ((t >>> 0) * 2097152 + ((s[0] >>> 0) >>> 11)) / 9007199254740992;
  };
  Object.defineProperty(Math, "random", { value: random, writable: true, configurable: true, enumerable: false });

  class ToolError extends Error {
    constructor(fault) {
      super(fault.code + ": " + fault.message + (fault.hint ? " " + fault.hint : ""));
      this.code = fault.code;
      this.hint = fault.hint;
    }
  }
  Object.defineProperty(ToolError.prototype, "name", { value: "ToolError" });
  hide("ToolError", ToolError);
  let names = [];
  const pending = new Map();
  const callTool = (name, args) =>
    new Promise((resolve, reject) => {
      const id = host("call", name + "\n" + (stringify(args.length === 0 ? {} : args.length === 1 && typeof args[0] === "object" ? args[0] : { "": args }) ?? "{}"));
      pending.set(Number(id), { resolve, reject });
    });
  const settle = (id, ok, json) => {
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    const value = parse(json);
    if (ok) waiting.resolve(value);
    else waiting.reject(new ToolError(value));
  };
  const toolFunctions = new Map();
  const toolNamed = (name) => {
    if (!toolFunctions.has(name)) toolFunctions.set(name, Object.defineProperty((...args) => callTool(name, args), "name", { value: name }));
    return toolFunctions.get(name);
  };
  hide("tools", new Proxy(Object.create(null), {
    get: (_target, name) => (typeof name === "symbol" || name === "then" || name === "toJSON" ? undefined : toolNamed(name)),
    has: (_target, name) => names.includes(name),
    ownKeys: () => [...names],
    getOwnPropertyDescriptor: (_target, name) => (names.includes(name) ? { value: toolNamed(name), enumerable: true, configurable: true, writable: false } : undefined),
    set: () => false,
  }));

  const coded = (work) => {
    try {
      return work();
    } catch (error) {
      const code = /^([A-Z]{4,}): /.exec(error.message)?.[1];
      if (code) error.code = code;
      throw error;
    }
  };
  const ask = (op, path, more) => coded(() => files(op, String(path), more));
  const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding);
  const statOf = (path, options) => {
    const text = ask("stat", path);
    if (text === "") {
      if (options?.throwIfNoEntry === false) return undefined;
      throw Object.assign(new Error("ENOENT: no such file or directory, '" + path + "'"), { code: "ENOENT" });
    }
    const fact = parse(text);
    return { size: fact.bytes, mtimeMs: fact.mtime_ms, mtime: new Date(fact.mtime_ms), isFile: () => !fact.folder, isDirectory: () => fact.folder, isSymbolicLink: () => false };
  };
  const fs = {
    readFileSync: (path, options) => (encodingOf(options) ? ask("text", path) : ask("bytes", path)),
    writeFileSync: (path, data) => { ask("write", path, typeof data === "string" || data instanceof Uint8Array ? data : String(data)); },
    appendFileSync: (path, data) => { ask("append", path, typeof data === "string" || data instanceof Uint8Array ? data : String(data)); },
    existsSync: (path) => ask("stat", path) !== "",
    statSync: statOf,
    lstatSync: statOf,
    readdirSync: (path) => parse(ask("list", path)),
    mkdirSync: (path, options) => { ask(options?.recursive ? "mkdirs" : "mkdir", path); },
    unlinkSync: (path) => { ask("unlink", path); },
    rmdirSync: (path) => { ask("rmdir", path); },
    rmSync: (path, options) => { if (!(options?.force && ask("stat", path) === "")) ask(options?.recursive ? "remove" : "unlink", path); },
    renameSync: (path, target) => { ask("rename", path, String(target)); },
    copyFileSync: (path, target) => { ask("write", target, ask("bytes", path)); },
  };
  fs.promises = Object.fromEntries(Object.keys(fs).map((name) => [name.replace(/Sync$/, ""), async (...args) => fs[name](...args)]));
  const normal = (path) => {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
      else if (part !== ".." || !path.startsWith("/")) parts.push(part);
    }
    return (path.startsWith("/") ? "/" : "") + parts.join("/") || ".";
  };
  const path = {
    sep: "/",
    join: (...parts) => normal(parts.filter((part) => part !== "").join("/")),
    normalize: normal,
    resolve: (...parts) => normal(parts.reduce((all, part) => (part.startsWith("/") ? part : all + "/" + part), "/workspace")),
    isAbsolute: (p) => p.startsWith("/"),
    basename: (p, ext = "") => { const base = p.replace(/\/+$/, "").split("/").at(-1) ?? ""; return ext && base.endsWith(ext) && base !== ext ? base.slice(0, -ext.length) : base; },
    dirname: (p) => { const cut = p.replace(/\/+$/, "").lastIndexOf("/"); return cut < 0 ? "." : cut === 0 ? "/" : p.slice(0, cut); },
    extname: (p) => /[^/](\.[^./]*)$/.exec(p)?.[1] ?? "",
  };
  path.posix = path;
  const builtin = { fs, path, "fs/promises": fs.promises, util: { inspect: (value) => inspect(value, 1), format: (...args) => format(args).slice(0, -1) } };
  hide("require", (name) => {
    const found = builtin[String(name).replace(/^node:/, "")];
    if (found) return found;
    throw new Error("require() knows only fs, path and util here. Libraries: await import(" + stringify(String(name)) + ").");
  });
  hide("__interop", (module) => (module.default !== null && (typeof module.default === "object" || typeof module.default === "function") ? new Proxy(module, { get: (m, key) => (key in m ? m[key] : m.default[key]), has: (m, key) => key in m || key in m.default, ownKeys: (m) => Reflect.ownKeys(m), getOwnPropertyDescriptor: (m, key) => Reflect.getOwnPropertyDescriptor(m, key) }) : module));
  hide("global", globalThis);
  /** Hits of a literal text or a regular expression in a text that was put here, found at native speed. */
  hide("__search", (name, pattern, options) => parse(coded(() => host("search", stringify({ name, ...(pattern instanceof RegExp ? { source: pattern.source, flags: pattern.flags } : { literal: String(pattern) }), from: Number(options?.from) || 0, max: Number(options?.max) || 20 })))));

  const known = new Set(Object.getOwnPropertyNames(globalThis));
  const typeOf = (value) => (value === null ? "null" : typeof value === "object" ? (value.constructor?.name ?? "object") : /^class\b/.test(String(value)) ? "class" : typeof value);
  return {
    tick,
    settle,
    explain,
    begin: (seed, given) => { full.stdout = full.stderr = false; if (seed) { s = parse(seed); } names = parse(given); timers = []; pending.clear(); },
    waiting: () => pending.size,
    show: (value) => {
      if (value === undefined) return "";
      try {
        if (plain(value, 0)) { const text = stringify(value); if (text !== undefined) return text; }
      } catch {}
      return stringify(inspect(value, 1));
    },
    look: () => stringify(Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name)).slice(0, 500).map((name) => [name, typeOf(globalThis[name])])),
  };
  /** What JSON says as it is. */
  function plain(value, depth) {
    if (value === null || typeof value === "string" || typeof value === "boolean") return true;
    if (typeof value === "number") return Number.isFinite(value);
    if (typeof value !== "object" || depth > 60) return false;
    if (Array.isArray(value)) return value.every((item) => plain(item, depth + 1));
    const parent = Object.getPrototypeOf(value);
    return (parent === null || parent === Object.prototype) && Object.values(value).every((item) => item === undefined || plain(item, depth + 1));
  }
})()
`;

/** Modules that every program expects, by the name it imports them by. */
export function builtinModule(name: string): string | undefined {
  const plain = name.replace(/^node:/, "");
  if (!["fs", "path", "fs/promises", "util"].includes(plain)) return undefined;
  const exported: Record<string, string> = {
    fs: "readFileSync writeFileSync appendFileSync existsSync statSync lstatSync readdirSync mkdirSync unlinkSync rmdirSync rmSync renameSync copyFileSync promises",
    "fs/promises": "readFile writeFile appendFile exists stat lstat readdir mkdir unlink rmdir rm rename copyFile",
    path: "sep join normalize resolve isAbsolute basename dirname extname posix",
    util: "inspect format",
  };
  return `const m = require(${JSON.stringify(plain)}); export default m; export const { ${exported[plain]!.split(" ").join(", ")} } = m;`;
}
