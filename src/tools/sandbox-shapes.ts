import * as z from "zod";

/** Shapes that several tools of the sandbox share. */
export const sessionArgument = z.object({ session_id: z.string() });
export const nothing = z.object({});
export const ok = z.object({ ok: z.boolean() });
export const runtimeLanguage = z.enum(["javascript", "python"]);
