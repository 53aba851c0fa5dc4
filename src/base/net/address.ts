import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an address belongs to this machine alone, also when IPv6 wraps it (::ffff:127.0.0.1). */
export function isLoopback(address: string): boolean {
  return holds(loopback, address);
}

/** Names as they are written, and addresses and networks (10.0.0.0/8) by what they cover. */
export interface HostList {
  hasName(hostname: string): boolean;
  hasAddress(address: string): boolean;
  /** Whether an address could be meant at all. */
  readonly listsAddresses: boolean;
}

export function hostList(entries: readonly string[]): HostList {
  const names = new Set<string>();
  const addresses = new BlockList();
  for (const entry of entries) {
    const [host = "", bits] = bare(entry.toLowerCase()).split("/");
    const family = isIP(host);
    if (family === 0) names.add(host);
    else if (bits === undefined) addresses.addAddress(host, family === 4 ? "ipv4" : "ipv6");
    else addresses.addSubnet(host, Number(bits), family === 4 ? "ipv4" : "ipv6");
  }
  return {
    hasName: (hostname) => names.has(bare(hostname.toLowerCase())),
    hasAddress: (address) => holds(addresses, address),
    listsAddresses: addresses.rules.length > 0,
  };
}

/** A host as URL and sockets write it: [::1], fe80::1%lo, name. */
export function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, "")
    .replace(/%.*$/, "")
    .replace(/\.$/, "");
}

function holds(list: BlockList, address: string): boolean {
  const plain = bare(address);
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 4 ? "ipv4" : "ipv6");
}
