/** What a run protects, made ready to be asked path by path. */
import { globMatcher } from "../platform/glob.ts";
import type { ProtectSpec } from "../spec.ts";

export type Kind = "test" | "config" | "keys";

export interface Protection {
  readonly testChanges: ProtectSpec["testChanges"];
  kindOf(path: string): Kind | undefined;
  /** Keys or sections of a file of kind `keys`. */
  keysOf(path: string): string[];
}

export function protection({ tests, config, keys, except, testChanges }: ProtectSpec): Protection {
  const [isTest, isConfig, isExcepted] = [globMatcher(tests), globMatcher(config), globMatcher(except)];
  const files = Object.entries(keys).map(([pattern, names]) => ({ isMeant: globMatcher([pattern]), names }));
  return {
    testChanges,
    kindOf(path) {
      if (isConfig(path)) return isExcepted(path) ? undefined : "config";
      if (isTest(path)) return isExcepted(path) ? undefined : "test";
      if (files.some(({ isMeant }) => isMeant(path))) return isExcepted(path) ? undefined : "keys";
      return undefined;
    },
    keysOf: (path) => files.filter(({ isMeant }) => isMeant(path)).flatMap(({ names }) => names),
  };
}
