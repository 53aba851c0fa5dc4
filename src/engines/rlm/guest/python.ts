/** The names that a cell finds, in Python. Written for the guest, run before its first cell, frozen by the sandbox. */
export const PYTHON_PRELUDE = String.raw`
def _names():
    import bisect, re
    text, host = context, tools
    starts = []

    def line_starts():
        if not starts:
            starts.append(0)
            at = text.find("\n")
            while at >= 0:
                if at + 1 < len(text):
                    starts.append(at + 1)
                at = text.find("\n", at + 1)
        return starts

    def natural(start, end):
        if end >= len(text):
            return len(text)
        least = start + (end - start) // 2
        for mark in ("\n\n", "\n", ". ", " "):
            at = text.rfind(mark, start, end)
            if at >= least:
                return at + len(mark)
        return end

    class Chunk:
        __slots__ = ("start", "end")

        def __init__(self, start, end):
            self.start, self.end = start, end

        @property
        def text(self):
            return text[self.start : self.end]

        def __repr__(self):
            return "Chunk(%d, %d)" % (self.start, self.end)

    def peek(start=0, end=None):
        return text[start : start + 2000 if end is None else end]

    def lines(first, last=None):
        every = line_starts()
        first, last = max(1, first), max(first, last or first)
        if first > len(every):
            return ""
        return text[every[first - 1] : every[last] if last < len(every) else len(text)]

    def line_count():
        return len(line_starts()) if text else 0

    def places(pattern, start):
        if isinstance(pattern, re.Pattern):
            for found in pattern.finditer(text, start):
                yield found.start()
            return
        at = text.find(pattern, start) if pattern else -1
        while at >= 0:
            yield at
            at = text.find(pattern, at + len(pattern))

    def search(pattern, max=20, start=0, regex=False, ignore_case=False):
        if not isinstance(pattern, re.Pattern) and (regex or ignore_case):
            pattern = re.compile(pattern if regex else re.escape(pattern), re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
        hits, line, seen = [], 1, 0
        for at in places(pattern, start):
            line += text.count("\n", seen, at)
            seen = at
            first = text.rfind("\n", 0, at) + 1
            last = text.find("\n", at)
            last = len(text) if last < 0 else last
            if last - first > 300:
                first = first if at - first < 100 else at - 100
                last = min(last, first + 300)
            hits.append({"at": at, "line": line, "text": text[first:last]})
            if len(hits) >= max:
                break
        return hits

    def chunks(size=20000, overlap=0):
        out, start, step = [], 0, size if size > 2 else 2
        while start < len(text):
            end = natural(start, start + step)
            out.append(Chunk(start, end))
            start = end if end >= len(text) else max(start + 1, end - min(overlap, step - 1))
        return out

    def outline():
        return host.outline({})

    def symbol(name):
        for entry in outline():
            if entry["name"] == name:
                return lines(entry["line"], entry["end_line"])
        raise KeyError("there is no symbol " + name + "; outline() lists them")

    def llm_query(prompt, **options):
        return host.llm_query({**options, "prompt": str(prompt)})

    def llm_query_batch(prompts, **options):
        return host.llm_query_batch({**options, "prompts": [str(prompt) for prompt in prompts]})

    def rlm_query(task, context):
        return host.rlm_query({"task": str(task), "context": str(context)})

    def budget():
        return host.budget({})

    def answer(value):
        return host.answer({"value": value})

    return {f.__name__: f for f in (peek, lines, line_count, search, chunks, outline, symbol, llm_query, llm_query_batch, rlm_query, budget, answer)}

globals().update(_names())
del _names, tools
`;
