import { lookup as resolveName } from "node:dns";
import { readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { Fault } from "../fault.ts";
import { bare, hostList, isLoopback } from "./address.ts";

/** Where data may go. `restricted`: this machine and the hosts that the operator named. `unrestricted`: anywhere. */
export interface EgressRules {
  readonly profile: "restricted" | "unrestricted";
  readonly allowed_hosts: readonly string[];
}

export interface Egress {
  /** Refuses what can be refused by the address alone, before any name is looked up. */
  check(url: URL): void;
  /** Resolves a name for a socket, and gives it only addresses that were judged. */
  readonly lookup: LookupFunction;
}

interface Found {
  readonly address: string;
  readonly family: number;
}

/** The word means this machine, whatever a resolver says. */
const LOCALHOST: readonly Found[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Judges addresses when a socket is about to be made: a name that was good a moment ago is judged again. */
export function createEgress({ profile, allowed_hosts }: EgressRules): Egress {
  const hosts = hostList(allowed_hosts);
  const admits = (hostname: string, address: string) =>
    profile === "unrestricted" || isLoopback(address) || hosts.hasName(hostname) || hosts.hasAddress(address);

  return {
    check(url) {
      const host = bare(url.hostname);
      if (!/^https?:$/.test(url.protocol))
        throw new Fault("egress_denied", `${url.protocol}// is no address for a model.`, { rule: "rlm.providers" });
      if (isIP(host) !== 0 && !admits(host, host)) throw refusal(host, host);
    },
    lookup(hostname, options, callback) {
      const all = typeof options === "object" && options.all === true;
      const give = (found: readonly Found[]) => {
        const stranger = found.find(({ address }) => !admits(hostname, address));
        if (stranger) return callback(refusal(hostname, stranger.address), "", 0);
        if (all) return callback(null, [...found]);
        const [first] = found;
        if (!first) return callback(new Error("the name has no address"), "", 0);
        callback(null, first.address, first.family);
      };
      if (bare(hostname) === "localhost") return give(LOCALHOST);
      if (profile === "restricted" && !hosts.hasName(hostname) && !hosts.listsAddresses)
        return give(knownHere(hostname));
      resolveName(hostname, { all: true }, (error, found) => (error ? callback(error, "", 0) : give(found)));
    },
  };
}

/**
 * What this machine's own list says of a name. Where only this machine can be meant, no resolver is asked: the question itself
 * would leave.
 */
function knownHere(hostname: string): Found[] {
  const found = readFileSync("/etc/hosts", "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/))
    .filter(([, ...names]) => names.includes(bare(hostname.toLowerCase())))
    .map(([address = ""]) => ({ address, family: isIP(address) }));
  return found.length > 0 ? found : [{ address: "not looked up", family: 0 }];
}

function refusal(hostname: string, address: string): Fault {
  const what = hostname === address ? address : `${hostname} (${address})`;
  return new Fault("egress_denied", `Nothing is sent to ${what}: it is neither this machine nor an allowed host.`, {
    hint: 'The operator can add it to mcp.rlm.allowed_hosts, or choose mcp.rlm.profile = "unrestricted".',
    rule: "rlm.allowed_hosts",
  });
}
