import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process as other processes can recognise it, also after its number was given to another one. */
export interface ProcessMark {
  readonly pid: number;
  /** Clock ticks from boot to its start. */
  readonly started: string;
  /** Machine, boot and PID namespace in which the number means something. */
  readonly place: string;
}

export function thisProcess(): ProcessMark {
  return { pid: process.pid, started: startOf(process.pid) ?? "", place: placeHere() };
}

/** Whether the process of a mark runs, is gone, or cannot be seen from here: in another container, or on another machine. */
export function fateOf(mark: ProcessMark, here: ProcessMark): "runs" | "gone" | "unseen" {
  if (mark.place === here.place) return startOf(mark.pid) === mark.started ? "runs" : "gone";
  const [machine, boot] = mark.place.split("|");
  const [thisMachine, thisBoot] = here.place.split("|");
  return machine === thisMachine && boot !== thisBoot ? "gone" : "unseen";
}

function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie does nothing any more, though its number is still taken.
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function placeHere(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  return `${hostname()}|${boot}|${readlinkSync("/proc/self/ns/pid")}`;
}
