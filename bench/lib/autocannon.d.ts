/** The part of the load generator that benches use; it brings no types of its own. */
declare module "autocannon" {
  namespace autocannon {
    interface Options {
      url: string;
      method?: string;
      headers?: Record<string, string>;
      body?: string;
      connections?: number;
      duration?: number;
      amount?: number;
      overallRate?: number;
    }
    interface Result {
      requests: { average: number; total: number };
      latency: { p50: number; p97_5: number };
      non2xx: number;
      errors: number;
    }
  }
  function autocannon(options: autocannon.Options, done: (error: unknown, result: autocannon.Result) => void): void;
  export = autocannon;
}
