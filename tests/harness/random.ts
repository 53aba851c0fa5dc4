import fc from "fast-check";

/** A suite that passes must pass again: the same cases are drawn each time. `FC_SEED=1234 npm test` draws others. */
fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 20) });

export { fc };
