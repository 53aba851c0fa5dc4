import type { Client } from "../client/clients.ts";

/** What to do. */
export interface Choices {
  readonly docs: boolean;
  readonly index: boolean;
  readonly clients: readonly Client[];
}

interface Offer {
  readonly root: string;
  readonly has_config: boolean;
  readonly files: number;
  readonly megabytes: string;
  readonly found: readonly Client[];
  readonly others: readonly Client[];
}

/** The questions of llmc init, in a terminal. undefined: the person went away. */
export async function ask(offer: Offer): Promise<Choices | undefined> {
  const { confirm, intro, isCancel, multiselect, note } = await import("@clack/prompts");
  intro("llmc init");
  note(
    [
      `${offer.root}: ${offer.files} ${offer.files === 1 ? "file" : "files"}, ${offer.megabytes} MB`,
      offer.has_config
        ? "llmc.toml is there and stays as it is."
        : "llmc.toml will say: hybrid mode, tools reach this folder only.",
    ].join("\n"),
    "This repository",
  );
  const docs = await confirm({ message: "Write starters: AGENTS.md, CONTRACTS.md, and short ones for models?" });
  if (isCancel(docs)) return undefined;
  const index = await confirm({ message: "Index it now, so that rag_search finds the right code at once?" });
  if (isCancel(index)) return undefined;
  const clients = await multiselect<Client>({
    message: "Register with which clients?",
    options: [
      ...offer.found.map((client) => ({ value: client, label: client.title, hint: "found here" })),
      ...offer.others.map((client) => ({ value: client, label: client.title })),
    ],
    initialValues: [...offer.found],
    required: false,
  });
  return isCancel(clients) ? undefined : { docs, index, clients };
}
