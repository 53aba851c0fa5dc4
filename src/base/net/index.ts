/** The way out: addresses are judged when a socket is made, proxies and redirects are not followed. */
export { hostList, isLoopback } from "./address.ts";
export { createEgress, type Egress, type EgressRules } from "./egress.ts";
export { type Answer, createPoster, NetworkError, type Poster } from "./post.ts";
