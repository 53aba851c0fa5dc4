/** The names that a cell finds, in JavaScript. Written for the guest, run before its first cell, frozen. */
export const JAVASCRIPT_PRELUDE = String.raw`
((tools, find) => {
  delete globalThis.tools;
  delete globalThis.__search;
  const text = context;
  const whole = (at) => {
    at = Math.max(0, Math.min(text.length, Math.trunc(at)));
    const code = text.charCodeAt(at);
    return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
  };
  let starts;
  const lineStarts = () => {
    if (starts) return starts;
    starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) if (at + 1 < text.length) starts.push(at + 1);
    return starts;
  };
  const natural = (from, to) => {
    if (to >= text.length) return text.length;
    const piece = text.slice(from, to);
    const least = piece.length >> 1;
    for (const mark of ["\n\n", "\n", ". ", " "]) {
      const at = piece.lastIndexOf(mark);
      if (at >= least) return from + at + mark.length;
    }
    const end = whole(to);
    return end > from ? end : from + 2;
  };
  const lines = (first, last = first) => {
    const all = lineStarts();
    const from = all[Math.max(1, first) - 1];
    return from === undefined ? "" : text.slice(from, all[Math.max(first, last)] ?? text.length);
  };
  const names = {
    peek: (start = 0, end = start + 2000) => text.slice(whole(start < 0 ? text.length + start : start), whole(end < 0 ? text.length + end : end)),
    lines,
    line_count: () => (text === "" ? 0 : lineStarts().length),
    search: (pattern, options = {}) =>
      find("context", options.regex && !(pattern instanceof RegExp) ? new RegExp(pattern, options.ignore_case ? "i" : "") : options.ignore_case && !(pattern instanceof RegExp) ? new RegExp(String(pattern).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i") : pattern, options),
    chunks: (size = 20000, overlap = 0) => {
      const out = [];
      const step = Math.max(2, Math.trunc(size));
      for (let start = 0; start < text.length; ) {
        const end = natural(start, start + step);
        const from = start;
        out.push(Object.defineProperty({ start: from, end }, "text", { get: () => text.slice(from, end), enumerable: false }));
        start = end >= text.length ? end : Math.max(from + 1, whole(end - Math.min(overlap, step - 1)));
      }
      return out;
    },
    outline: () => tools.outline({}),
    symbol: async (name) => {
      const found = (await tools.outline({})).find((entry) => entry.name === name);
      if (!found) throw new Error("there is no symbol " + name + "; outline() lists them");
      return lines(found.line, found.end_line);
    },
    llm_query: (prompt, options) => tools.llm_query({ ...options, prompt: String(prompt) }),
    llm_query_batch: (prompts, options) => tools.llm_query_batch({ ...options, prompts: Array.from(prompts, String) }),
    rlm_query: (task, context) => tools.rlm_query({ task: String(task), context: String(context) }),
    budget: () => tools.budget({}),
    answer: (value) => tools.answer({ value: value === undefined ? null : value }),
    print: (...values) => console.log(...values),
  };
  for (const [name, value] of Object.entries(names))
    Object.defineProperty(globalThis, name, {
      get: () => value,
      set() { throw new TypeError(name + " is frozen: use another name"); },
      enumerable: false,
      configurable: false,
    });
})(tools, __search);
`;
