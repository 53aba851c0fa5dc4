import { createAccess, type WasiCalls, type WasiDeps } from "./access.ts";
import { ERRNO, errnoOf } from "./descriptors.ts";
import { createView } from "./view.ts";
import { descriptorCalls } from "./wasi-descriptors.ts";
import { pathCalls } from "./wasi-paths.ts";

/** The system interface that CPython sees: three folders in memory, a clock, chance, and a wait. No more is behind it. */
export interface WasiHost {
  readonly imports: WasiCalls;
  /** Called once, when there is an instance. */
  attach(memory: WebAssembly.Memory): void;
  /** From here on clock and chance are real. Before, they are the same in every instance. */
  wake(): void;
}

export class GuestExit extends Error {
  readonly exit_code: number;
  constructor(exit_code: number) {
    super(`exit ${exit_code}`);
    this.exit_code = exit_code;
  }
}

const FIXED_TIME_NS = 1_700_000_000_000_000_000n;

export function createWasi(deps: WasiDeps): WasiHost {
  const { table } = deps;
  let awake = false;
  const view = createView();
  const { bytes, u32, data } = view;

  const access = createAccess(table, view, () => awake);

  const now = (clock: number): bigint => {
    if (!awake) return FIXED_TIME_NS;
    return clock === 0
      ? BigInt(Date.now()) * 1_000_000n
      : BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
  };

  function poll_oneoff(subscriptions: number, events: number, count: number, out: number): number {
    let wait_ns: bigint | undefined;
    const ready: [userdata: bigint, type: number][] = [];
    for (let index = 0; index < count; index++) {
      const base = subscriptions + index * 48;
      const d = data();
      const userdata = d.getBigUint64(base, true);
      const type = d.getUint8(base + 8);
      ready.push([userdata, type]);
      if (type !== 0) wait_ns = 0n;
      else {
        const asked = d.getBigUint64(base + 24, true);
        const left = d.getUint16(base + 40, true) & 1 ? asked - now(d.getUint32(base + 16, true)) : asked;
        const bounded = left > 0n ? left : 0n;
        wait_ns = wait_ns === undefined || bounded < wait_ns ? bounded : wait_ns;
      }
    }
    if (wait_ns) deps.sleep(Number(wait_ns / 1_000_000n));
    bytes().fill(0, events, events + count * 32);
    ready.forEach(([userdata, type], index) => {
      data().setBigUint64(events + index * 32, userdata, true);
      data().setUint8(events + index * 32 + 10, type);
    });
    u32(out, count);
    return 0;
  }

  const strings = (list: readonly string[]) => list.map((item) => Buffer.from(`${item}\0`));
  const sizes = (list: readonly string[]) => (count: number, size: number) => {
    u32(count, list.length);
    u32(
      size,
      strings(list).reduce((sum, item) => sum + item.length, 0),
    );
    return 0;
  };
  const copy = (list: readonly string[]) => (pointers: number, buffer: number) => {
    let to = buffer;
    strings(list).forEach((item, index) => {
      u32(pointers + index * 4, to);
      bytes().set(item, to);
      to += item.length;
    });
    return 0;
  };

  const calls: WasiCalls = {
    args_sizes_get: sizes(deps.args),
    args_get: copy(deps.args),
    environ_sizes_get: sizes(deps.env),
    environ_get: copy(deps.env),
    clock_res_get(_id: number, out: number) {
      data().setBigUint64(out, 1_000_000n, true);
      return 0;
    },
    clock_time_get(id: number, _precision: bigint, out: number) {
      data().setBigUint64(out, now(id), true);
      return 0;
    },
    random_get(ptr: number, length: number) {
      const target = bytes().subarray(ptr, ptr + length);
      if (!awake) target.fill(7);
      else
        for (let done = 0; done < length; done += 65_536)
          crypto.getRandomValues(target.subarray(done, Math.min(done + 65_536, length)));
      return 0;
    },
    sched_yield: () => 0,
    proc_exit(code: number) {
      throw new GuestExit(code);
    },
    poll_oneoff,
    ...descriptorCalls(access, deps),
    ...pathCalls(access),
    sock_accept: () => ERRNO.NOTSUP,
    sock_recv: () => ERRNO.NOTSUP,
    sock_send: () => ERRNO.NOTSUP,
    sock_shutdown: () => ERRNO.NOTSUP,
  };

  const guarded = Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      (...args: never[]) => {
        try {
          return call(...args);
        } catch (error) {
          return errnoOf(error);
        }
      },
    ]),
  );
  return { imports: guarded, attach: view.attach, wake: () => (awake = true) };
}
