interface Block {
  readonly stack: Disposable[];
  error: unknown;
  hasError: boolean;
}

export function __addDisposableResource<T extends Disposable | null | undefined>(
  block: Block,
  value: T,
  isAsync: boolean,
): T {
  if (isAsync) throw new TypeError("await using is not lowered here");
  if (value) block.stack.push(value);
  return value;
}

/** The last one taken goes first; every one goes; the first error is the one that is told. */
export function __disposeResources(block: Block): void {
  for (const value of block.stack.reverse()) {
    try {
      value[Symbol.dispose]();
    } catch (error) {
      if (!block.hasError) block.error = error;
      block.hasError = true;
    }
  }
  if (block.hasError) throw block.error;
}
