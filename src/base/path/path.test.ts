import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { fc } from "../../../tests/harness/random.ts";
import { type Temp, temp } from "../../../tests/harness/temp.ts";
import type { Fault } from "../fault.ts";
import { createRoots, inside, pin, pinDir, pinFile, place, type Roots, reopen } from "./index.ts";

function fault(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    return error as Fault;
  }
  throw new Error("nothing was refused");
}

describe("the path guard", () => {
  let folder: Temp;
  let root: string;
  let outside: string;
  let roots: Roots;

  beforeEach(() => {
    folder = temp();
    root = join(folder.path, "root");
    outside = join(folder.path, "outside");
    mkdirSync(join(root, "sub"), { recursive: true });
    mkdirSync(outside);
    mkdirSync(`${root}-sibling`);
    writeFileSync(join(root, "a.txt"), "inside");
    writeFileSync(join(outside, "secret"), "outside");
    writeFileSync(join(`${root}-sibling`, "x"), "sibling");
    roots = createRoots({ roots: [root], state_dir: join(root, ".llmc") });
    return () => folder[Symbol.dispose]();
  });

  it("mints what lies inside and shows it relative to the one root", () => {
    expect(roots.mint("a.txt", "read").shown).toBe("a.txt");
    expect(roots.mint(join(root, "sub/../a.txt"), "read").shown).toBe("a.txt");
    expect(roots.mint(".", "read").shown).toBe(".");
  });

  it("shows absolute paths when there are two roots", () => {
    const two = createRoots({ roots: [root, outside] });
    expect(two.mint("a.txt", "read").shown).toBe(join(root, "a.txt"));
    expect(two.mint(join(outside, "secret"), "read").root).toBe(outside);
  });

  it("refuses what lies outside with one message, whether it exists or not", () => {
    const there = fault(() => roots.mint("../outside/secret", "read"));
    const gone = fault(() => roots.mint("../outside/nothing", "read"));
    expect(there.code).toBe("path_denied");
    expect(there.message.replace("secret", "nothing")).toBe(gone.message);
  });

  it.each([
    "../../etc/passwd",
    "/etc/passwd",
    "sub/../../outside/secret",
    "\0",
    "a\0b",
    "",
    "x".repeat(5000),
    "/etc/passwd ",
  ])("refuses %j", (path) => {
    expect(fault(() => roots.mint(path, "read")).code).toBe("path_denied");
  });

  it("refuses a sibling whose name begins with the root's name", () => {
    expect(fault(() => roots.mint(join(`${root}-sibling`, "x"), "read")).code).toBe("path_denied");
  });

  it("refuses links that lead out, existing and dangling alike", () => {
    symlinkSync(join(outside, "secret"), join(root, "out"));
    symlinkSync(join(outside, "nothing"), join(root, "dangling"));
    symlinkSync(outside, join(root, "door"));
    for (const path of ["out", "dangling", "door", "door/secret", "door/nothing", "door/no/such"]) {
      const refused = fault(() => pin(roots, roots.mint(path, "read")));
      expect([path, refused.code, refused.message.startsWith("Path is outside")]).toEqual([path, "path_denied", true]);
    }
  });

  it("refuses to write through a dangling link that leads out, and follows one that stays in", () => {
    symlinkSync(join(outside, "new"), join(root, "out"));
    symlinkSync("sub/new", join(root, "in"));
    expect(fault(() => place(roots, roots.mint("out", "write"))).code).toBe("path_denied");
    using spot = place(roots, roots.mint("in", "write"));
    expect(spot.shown).toBe("sub/new");
  });

  it("works when the root itself is a link, by either name", () => {
    symlinkSync(root, join(folder.path, "link"));
    const linked = createRoots({ roots: [join(folder.path, "link")] });
    for (const path of ["a.txt", join(folder.path, "link/a.txt"), join(root, "a.txt")]) {
      using file = pinFile(linked, linked.mint(path, "read"));
      expect(file.shown).toBe("a.txt");
    }
  });

  it("reads by descriptor what was pinned, whatever the path becomes", () => {
    using file = pinFile(roots, roots.mint("a.txt", "read"));
    execFileSync("mv", [join(root, "a.txt"), join(root, "b.txt")]);
    symlinkSync(join(outside, "secret"), join(root, "a.txt"));
    const fd = reopen(file);
    expect(readFileSync(fd, "utf8")).toBe("inside");
    closeSync(fd);
  });

  it("refuses FIFOs, devices and folders as files without opening them", () => {
    execFileSync("mkfifo", [join(root, "fifo")]);
    const all = createRoots({ roots: ["/"] });
    expect(fault(() => pinFile(roots, roots.mint("fifo", "read"))).message).toContain("FIFO");
    for (const path of ["/dev/zero", "/proc/self/environ", "/sys/kernel", "/dev"])
      expect(fault(() => all.mint(path, "read")).rule).toContain("kernel files");
    symlinkSync("/proc/self/environ", join(root, "environ"));
    expect(fault(() => pin(all, all.mint(join(root, "environ"), "read"))).rule).toContain("kernel files");
    expect(fault(() => pinFile(roots, roots.mint("sub", "read"))).code).toBe("is_directory");
    expect(fault(() => pinDir(roots, roots.mint("a.txt", "read"))).code).toBe("not_a_directory");
  });

  it("says what is missing inside", () => {
    expect(fault(() => pin(roots, roots.mint("nothing", "read"))).code).toBe("file_not_found");
    expect(fault(() => pin(roots, roots.mint("a.txt/b", "read"))).code).toBe("not_a_directory");
  });

  it("denies writing names that make others run code, in any case and at any depth", () => {
    for (const path of [
      ".git/hooks/pre-commit",
      ".git/config",
      "sub/.git",
      ".GIT/config",
      ".mcp.json",
      ".vscode/tasks.json",
      "sub/.cursor/mcp.json",
      "llmc.toml",
      ".bashrc",
    ]) {
      expect(fault(() => roots.mint(path, "write")).rule).toMatch(/^denied_paths:/);
      expect(() => roots.mint(path, "read")).not.toThrow();
    }
    expect(() => roots.mint(".gitignore", "write")).not.toThrow();
  });

  it("denies the state folder for reading too, but for its stubs", () => {
    expect(fault(() => roots.mint(".llmc/handles.db", "read")).code).toBe("path_denied");
    expect(fault(() => roots.mint(".llmc/stubs/x", "write")).code).toBe("path_denied");
    expect(() => roots.mint(".llmc/stubs/x", "read")).not.toThrow();
    const moved = createRoots({ roots: [root], state_dir: join(root, "sub/state") });
    expect(fault(() => moved.mint("sub/state/handles.db", "read")).code).toBe("path_denied");
  });

  it("judges the name a link leads to, not the link's", () => {
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".git/config"), "");
    symlinkSync(".git/config", join(root, "harmless"));
    expect(fault(() => place(roots, roots.mint("harmless", "write"))).rule).toBe("denied_paths:.git");
  });

  it("lets the operator lift and add rules", () => {
    const own = createRoots({ roots: [root], denied: ["!.vscode", "rw:*.pem", "/sub"] });
    expect(() => own.mint(".vscode/settings.json", "write")).not.toThrow();
    expect(fault(() => own.mint("deep/key.PEM", "read")).rule).toBe("denied_paths:rw:*.pem");
    expect(fault(() => own.mint("sub/x", "write")).rule).toBe("denied_paths:/sub");
    expect(() => own.mint("other/sub/x", "write")).not.toThrow();
  });

  it("allows nothing when the list of roots is empty, and all when roots are not enforced", () => {
    expect(fault(() => createRoots({ roots: [] }).mint("/etc/hostname", "read")).hint).toContain("allowed_roots");
    expect(createRoots({ roots: [root], enforce: false }).mint("/etc/hostname", "read").abs).toBe("/etc/hostname");
  });

  it("refuses the root itself as a place to write", () => {
    expect(fault(() => place(roots, roots.mint(".", "write"))).message).toBe("This is a root itself.");
  });

  it("never pins anything outside, whatever path and links it is given", () => {
    symlinkSync(outside, join(root, "door"));
    symlinkSync("..", join(root, "sub/up"));
    symlinkSync("/", join(root, "slash"));
    const part = fc.constantFrom(
      "..",
      ".",
      "sub",
      "up",
      "door",
      "slash",
      "a.txt",
      "secret",
      "outside",
      "root",
      folder.path.slice(1),
      "",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), (parts, absolute) => {
        try {
          using pinned = pin(roots, roots.mint((absolute ? "/" : "") + parts.join("/"), "read"));
          expect(inside(pinned.real, root)).toBe(true);
        } catch (error) {
          expect(["path_denied", "file_not_found", "not_a_directory"]).toContain((error as Fault).code);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
