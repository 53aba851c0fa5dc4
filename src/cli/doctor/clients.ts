import { type ClientState, registryFor } from "../client/registry.ts";
import type { Terminal } from "../command.ts";
import type { Finding } from "../findings.ts";
import { shorter } from "../shorter.ts";

/** The clients that are here. Those that are not are no matter for a doctor. */
export function clientFindings(terminal: Terminal, root: string): Finding[] {
  const findings = registryFor(terminal, root)
    .list()
    .flatMap((state) => findingOf(state, root, terminal));
  if (findings.length > 0) return findings;
  return [
    { level: "warning", about: "clients", text: "none found: llmc client add CLIENT, or paste what llmc serve prints" },
  ];
}

function findingOf(state: ClientState, root: string, { cwd, env }: Terminal): Finding[] {
  const { title, id, file, found, registered, problem } = state;
  const finding = (level: Finding["level"], text: string): Finding[] => [
    { level, about: "clients", text: `${title} ${text}` },
  ];
  if (problem !== undefined) return finding("error", problem);
  if (registered.some(({ works }) => !works))
    return finding("error", `starts a program that is gone. llmc client add ${id}`);
  if (registered.some((entry) => entry.root === root))
    return finding("ok", `knows it (${shorter(file, cwd, env["HOME"])})`);
  return found ? finding("warning", `does not know it yet: llmc client add ${id}`) : [];
}
