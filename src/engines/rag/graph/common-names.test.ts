import { describe, expect, it } from "vitest";
import { openIndexedRag, SIGNAL } from "../test-rag.ts";

describe("a name that many have", () => {
  it("lends a class nothing of what another class of its name derives from", async () => {
    await using bed = await openIndexedRag({
      files: {
        "a/base.py": "class Base:\n    def run(self):\n        pass\n",
        "a/job.py": "from a.base import Base\n\nclass Job(Base):\n    pass\n",
        "b/job.py": "class Job:\n    pass\n",
        "a/main.py": "from a.job import Job\n\nJob().run()\n",
        "b/main.py": "from b.job import Job\n\nJob().run()\n",
      },
    });
    const { items } = await bed.rag.whereUsed({ symbol: "Base.run", limit: 10 }, SIGNAL);
    expect(items.map(({ path, confidence }) => [path, confidence >= 0.9])).toEqual([
      ["a/main.py", true],
      ["b/main.py", false],
    ]);
  });

  it("is found by its owner among more than are read at once", async () => {
    const crowd = Array.from({ length: 2_100 }, (_, n) => `class C${n}:\n    def run(self):\n        pass\n`);
    await using bed = await openIndexedRag({
      files: {
        "crowd.py": crowd.join("\n"),
        "rare.py": "class Rare:\n    def run(self):\n        pass\n\nRare().run()\n",
      },
    });
    const { items, total } = await bed.rag.whereUsed({ symbol: "Rare.run", limit: 10 }, SIGNAL);
    expect({ total, items }).toMatchObject({ total: 1, items: [{ path: "rare.py", line: 5, kind: "call" }] });
    expect(items[0]!.confidence).toBeGreaterThanOrEqual(0.9);
    expect(
      await bed.rag.inspect({ symbol: "Rare.run", include_full_source: false, max_neighbors: 3 }, SIGNAL),
    ).toMatchObject({ path: "rare.py", definition: { line: 2 } });
  });

  it("of which only words are known is shown where it is defined, and the note says that there are more", async () => {
    const others = Object.fromEntries(Array.from({ length: 130 }, (_, n) => [`a${n}.txt`, `Lonely ${n}\n`]));
    await using bed = await openIndexedRag({ files: { ...others, "z.py": "def lonely():\n    pass\n" } });
    const { items, note } = await bed.rag.whereUsed({ symbol: "lonely", limit: 10 }, SIGNAL);
    expect(items).toMatchObject([{ path: "z.py", line: 1, kind: "word" }]);
    expect(note).toContain("some of the places where the word stands");
  });

  it("has the same pages whether or not it was asked for before", async () => {
    const users = Array.from({ length: 40 }, (_, n) => `def user${n}():\n    shared()\n`);
    await using bed = await openIndexedRag({ files: { "m.py": `def shared():\n    pass\n\n${users.join("\n")}` } });
    const ask = (cursor?: string) => bed.rag.whereUsed({ symbol: "shared", limit: 15, cursor }, SIGNAL);
    const first = await ask();
    const second = await ask(first.cursor);
    const third = await ask(second.cursor);
    expect(await ask(first.cursor)).toEqual(second);
    expect([...first.items, ...second.items, ...third.items].map(({ symbol }) => symbol)).toEqual(
      Array.from({ length: 40 }, (_, n) => `user${n}`),
    );
    expect(third.cursor).toBeUndefined();
  });
});
