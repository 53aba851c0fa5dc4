/**
 * What runs inside CPython. It waits at module level in one place, with a buffer that was made before: then the whole state of the
 * interpreter is its linear memory, and the host can exchange it there. Commands, results and calls of tools travel on the bridge.
 */
export const DRIVER = String.raw`
import sys, io, os, json, ast, traceback, types, linecache, gc, random, math, re, collections, itertools, functools, datetime, dataclasses, typing, string, statistics, textwrap, copy, operator, hashlib, base64, decimal, fractions, heapq, bisect, csv, time, struct, enum, abc, contextlib, importlib.util, pkgutil, pathlib, uuid, difflib, tempfile, shutil

def _start():
    bridge = io.FileIO("/llmc/bridge", "r+b")
    sep = (",", ":")

    def send(kind, payload):
        bridge.write(len(payload).to_bytes(4, "little") + kind + payload)

    def receive():
        size = int.from_bytes(bridge.read(4), "little")
        chunks = []
        while size > 0:
            chunk = bridge.read(size)
            if not chunk:
                break
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    class ToolError(Exception):
        def __init__(self, code, message, hint=None):
            super().__init__(code + ": " + message + ((" " + hint) if hint else ""))
            self.code, self.message, self.hint = code, message, hint

    ToolError.__module__ = "builtins"
    ToolError.__qualname__ = "ToolError"

    class Tools:
        __slots__ = ("_names",)

        def __init__(self):
            self._names = []

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return functools.partial(self._call, name)

        def __getitem__(self, name):
            return functools.partial(self._call, name)

        def __dir__(self):
            return list(self._names)

        def __iter__(self):
            return iter(list(self._names))

        def __repr__(self):
            return "<tools: " + ", ".join(self._names) + ">"

        @staticmethod
        def _call(tool, *args, **named):
            if len(args) == 1 and isinstance(args[0], dict):
                given = {**args[0], **named}
            elif args:
                given = {"": list(args), **named}
            else:
                given = named
            name = tool.encode()
            send(b"C", len(name).to_bytes(4, "little") + name + json.dumps(given, separators=sep).encode())
            reply = json.loads(receive())
            if reply["ok"]:
                return reply["value"]
            fault = reply["value"]
            raise ToolError(fault.get("code", "internal_error"), fault.get("message", ""), fault.get("hint"))

    frozen = {}

    class Guarded:
        """What a cell stores at its top level goes to the module, but for frozen names."""

        def __getitem__(self, name):
            raise KeyError(name)

        def __setitem__(self, name, value):
            if name in frozen:
                raise NameError(name + " is frozen: use another name")
            space[name] = value

        def __delitem__(self, name):
            if name in frozen:
                raise NameError(name + " is frozen")
            del space[name]

    guarded = Guarded()
    arriving = {}

    def put(request):
        name, at, size = request["name"], request["at"], request["size"]
        if at == 0:
            arriving[name] = bytearray(request["total"])
        view = memoryview(arriving[name])[at : at + size]
        bridge.read(4)
        while len(view) > 0:
            view = view[bridge.readinto(view) :]
        view.release()
        if at + size == request["total"]:
            frozen[name] = space[name] = arriving.pop(name).decode("utf-8", "replace")
        return {}

    tools = Tools()
    main = types.ModuleType("__main__")
    space = main.__dict__
    space["tools"] = tools
    space["ToolError"] = ToolError
    space["__builtins__"] = __builtins__
    given = frozenset(space) | {"_"}
    sys.modules["__main__"] = main
    sys.path[:] = [p for p in sys.path if p] + ["/workspace"]
    sys.argv[:] = [""]
    sys.dont_write_bytecode = True
    os.environ.clear()
    os.environ["HOME"] = os.environ["TMPDIR"] = "/workspace"
    tempfile.tempdir = "/workspace"
    os.chdir("/workspace")
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)), encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    count = [0]

    def available():
        names = set()
        try:
            names = {m.name for m in pkgutil.iter_modules([p for p in sys.path if p.startswith("/packages")])}
        except Exception:
            pass
        return sorted(names)

    def complain(error, where):
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<cell")]
        seen = traceback.TracebackException(type(error), error, None, compact=True)
        lines = []
        if frames:
            lines.append("Traceback (most recent call last):\n")
            lines.extend(traceback.format_list(frames[-20:]))
        lines.extend(seen.format_exception_only())
        if isinstance(error, ModuleNotFoundError):
            extra = available()
            lines.append("Only the standard library" + (" and " + ", ".join(extra) if extra else "") + " can be imported here.\n")
        sys.stderr.write("".join(lines))

    def shown(value):
        if value is None:
            return None
        try:
            text = json.dumps(value, separators=sep, ensure_ascii=False, allow_nan=False)
            if json.loads(text) == value:
                return text
        except RecursionError:
            pass
        except Exception:
            pass
        return json.dumps(repr(value), ensure_ascii=False)

    def look():
        variables, imports = [], []
        for name, value in list(space.items()):
            if name in given or (name.startswith("__") and name.endswith("__")):
                continue
            if isinstance(value, types.ModuleType):
                imports.append(value.__name__)
            else:
                variables.append([name, type(value).__name__])
        return {"variables": variables[:500], "imports": sorted(set(imports))[:200]}

    def run(request):
        count[0] += 1
        where = "<cell " + str(count[0]) + ">"
        code = request["code"]
        linecache.cache[where] = (len(code), None, code.splitlines(True), where)
        for old in [key for key in linecache.cache if key.startswith("<cell ")][:-50]:
            del linecache.cache[old]
        tools._names = request["tools"]
        for entry in request["packages"]:
            if entry not in sys.path:
                sys.path.append(entry)
        if request["reseed"]:
            random.seed()
        status, result, memory = 0, None, False
        space.update(frozen)
        places = (space, guarded) if frozen else (space,)
        before = set(space)
        try:
            tree = ast.parse(code, where)
            last = None
            if tree.body and isinstance(tree.body[-1], ast.Expr):
                last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, where, "exec"), *places)
            if last is not None:
                value = eval(compile(last, where, "eval"), *places)
                space["_"] = value
                result = shown(value)
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
            if status == 1 and not isinstance(stop.code, int):
                sys.stderr.write(str(stop.code) + "\n")
        except MemoryError as error:
            status, memory = 137, True
            error.__traceback__ = None
            gc.collect()
            sys.stderr.write("MemoryError\n")
        except BaseException as error:
            status = 1
            complain(error, where)
        if request.get("freeze"):
            frozen.update({name: value for name, value in space.items() if name not in before})
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except Exception:
                pass
        return {"exit_code": status, "result": result, "memory": memory}

    def step():
        request = json.loads(receive())
        answer = {"look": look, "put": lambda: put(request), "run": lambda: run(request)}[request["op"]]()
        send(b"D", json.dumps(answer, separators=sep, ensure_ascii=False).encode("utf-8", "backslashreplace"))

    return step

_step = _start()
_token = bytearray(8)
_wait = io.FileIO(0, closefd=False).readinto
gc.collect()
while True:
    _wait(_token)
    _step()
`;
