/** What cannot be meant by the hooks of the settings. */
import { UsageError } from "../errors.ts";
import type { Settings } from "./settings.ts";

type Hooks = NonNullable<Settings["hooks"]>;

/** Unnamed ones are called after their place: hook 1, hook 2, … wherever one is told. */
export const hookNames = (hooks: Hooks): string[] => hooks.map(({ name }, at) => name ?? String(at + 1));

export function refuseHooks(hooks: Hooks): void {
  const names = hookNames(hooks);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`two hooks are called ${twice}`, { hint: "give each its own name" });
  for (const [at, { on, policy }] of hooks.entries()) {
    const name = names[at] ?? "";
    if (on.length === 0) throw new UsageError(`hook ${name} has no point`, { hint: "for example: on: iteration-end" });
    if (!on.includes("run-end") || policy === undefined || policy === "warn") continue;
    throw new UsageError(`hook ${name}: at run-end there is nothing left to ${policy}`, {
      hint: "policy: warn, or another point",
    });
  }
}
