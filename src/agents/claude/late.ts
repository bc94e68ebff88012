/** Something that takes time to make and is not needed at once. */
export interface Late<T> {
  /** Does not hurry it. Pending for ever when it is never made. */
  readonly ready: Promise<T>;
  /** It is needed. */
  now(): Promise<T>;
  /** It is not needed any more; what is being made is made all the same. */
  never(): void;
}

/** Made once, at `due` at the latest. */
export function late<T>(make: () => Promise<T>, { due }: { due: Promise<void> }): Late<T> {
  const made = Promise.withResolvers<T>();
  let isOver = false;
  const now = (): Promise<T> => {
    if (!isOver) make().then(made.resolve, made.reject);
    isOver = true;
    return made.promise;
  };
  made.promise.catch(() => undefined);
  void due.then(now).catch(() => undefined);
  return {
    ready: made.promise,
    now,
    never() {
      isOver = true;
    },
  };
}
