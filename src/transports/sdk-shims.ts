/** What the protocol library asks its platform for, less the schema validator: dispatch validates, and nothing else does. */
export const process: NodeJS.Process = globalThis.process;

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server validates in dispatch.");
  }
}
