import { asFault, Fault } from "../base/fault.ts";
import type { Principal } from "../base/principal.ts";
import type { Handles, Job } from "../engines/handles/types.ts";
import { following } from "./ended.ts";

interface Lateness {
  readonly soft_deadline_s: number;
  readonly max_jobs: number;
  handles(): Promise<Handles>;
  /** The finished payload as it is kept behind the handle. */
  render(payload: unknown): string;
}

export interface RunningJobs {
  /** Runs the work; when it is not done by the soft deadline, hands out a job handle instead and lets it run on. */
  inTime(
    owner: Principal,
    tool: string,
    signal: AbortSignal,
    work: (run: Run) => Promise<unknown>,
    late: Lateness,
  ): Promise<unknown>;
  /** Stops every job of this process. */
  close(): void;
}

export interface Run {
  /** Ends the work: aborted with the call until that is answered, and then with the job. */
  readonly control: AbortController;
  /** Progress goes to the client while it waits, and to the job after that. */
  readonly job: () => Job | undefined;
}

/** What a late call answers with instead of its payload: always plain JSON, whatever the tool's own lean form is. */
export class HandedOver {
  readonly handle: string;
  readonly state = "running";
  readonly hint: string;

  constructor(handle: string, hint: string) {
    this.handle = handle;
    this.hint = hint;
  }
}

/** "Too late" becomes a handle. The client's own cancel counts until the handle is out; after that only cancelling the job. */
export function createLateness(): RunningJobs {
  const running = new Map<Principal, Set<AbortController>>();

  async function inTime(
    owner: Principal,
    tool: string,
    signal: AbortSignal,
    work: (run: Run) => Promise<unknown>,
    late: Lateness,
  ): Promise<unknown> {
    const { control, letGo } = following(signal);
    let job: Job | undefined;
    const result = work({ control, job: () => job });
    try {
      if (await endsWithin(late.soft_deadline_s, result)) return await result;
    } finally {
      letGo();
    }
    job = await handOver(owner, tool, control, result, late);
    return new HandedOver(
      job.handle,
      `Not done after ${late.soft_deadline_s} s; it runs on. Read the handle with linux_handle_read (wait_s) or read_file.`,
    );
  }

  async function handOver(
    owner: Principal,
    tool: string,
    control: AbortController,
    result: Promise<unknown>,
    late: Lateness,
  ): Promise<Job> {
    const mine = running.get(owner) ?? new Set();
    running.set(owner, mine);
    if (mine.size >= late.max_jobs) {
      control.abort();
      throw new Fault("concurrency_limited", `You already have ${late.max_jobs} jobs running.`, {
        hint: "Wait for one, or cancel one.",
        retry_after_s: 10,
      });
    }
    mine.add(control);
    let job: Job;
    try {
      job = await (await late.handles()).startJob(owner, { kind: tool }, () =>
        control.abort(new Fault("timeout", "The job was cancelled.")),
      );
    } catch (error) {
      mine.delete(control);
      control.abort();
      throw error;
    }
    void settle(job, result, late).finally(() => {
      mine.delete(control);
      if (mine.size === 0) running.delete(owner);
    });
    return job;
  }

  return {
    inTime,
    close() {
      for (const controls of running.values())
        for (const control of controls) control.abort(new Fault("draining", "The server stopped."));
    },
  };
}

async function settle(job: Job, result: Promise<unknown>, late: Lateness): Promise<void> {
  try {
    await job.done(late.render(await result));
  } catch (error) {
    await job.failed(asFault(error)).catch(() => {});
  }
}

/** Most work ends with the turn of the loop it began in, and needs no timer. */
function endsWithin(seconds: number, result: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const armed = setImmediate(() => {
      timer = setTimeout(() => resolve(false), Math.min(seconds * 1000, 2 ** 31 - 1));
    });
    const ended = () => {
      clearImmediate(armed);
      clearTimeout(timer);
      resolve(true);
    };
    result.then(ended, ended);
  });
}
