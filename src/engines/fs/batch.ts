import type { ChangeDeps } from "./change.ts";
import { back, type Deed, finish, forward, unstage } from "./journal/index.ts";
import type { Hold } from "./locks/index.ts";

/**
 * Several steps as one change. `prepare` makes the new files under their temporary names; then the journal says that the
 * change is to be; then the steps are taken while nobody can take the locks. A crash before that point leaves the old
 * state, after it the new one; a step that fails takes the others back.
 */
export async function runBatch(
  deps: ChangeDeps,
  hold: Hold,
  deeds: readonly Deed[],
  prepare: () => Promise<void>,
  /** Looked at last, right before the steps. */
  check: () => void = () => {},
): Promise<void> {
  const id = await deps.journal.begin(hold, "staged", deeds);
  try {
    await prepare();
    await hold.confirm();
    await deps.journal.commit(id);
  } catch (error) {
    for (const deed of deeds.toReversed()) unstage(deed);
    await deps.journal.end(id);
    throw error;
  }
  try {
    await hold.commit(() => {
      check();
      deeds.forEach(forward);
    });
  } catch (error) {
    deeds.toReversed().forEach(back);
    await deps.journal.end(id);
    throw error;
  }
  deeds.forEach(finish);
  await deps.journal.end(id);
}
