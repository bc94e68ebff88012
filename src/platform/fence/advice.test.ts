import { expect, it } from "vitest";
import { fenceAdvice } from "./advice.ts";

const machine = {
  platform: "linux" as NodeJS.Platform,
  has: (): boolean => true,
  setting: (): string | undefined => undefined,
  inContainer: false,
};

it("names what is missing, and the command that gets it", () => {
  const missing = (name: string) => fenceAdvice({ ...machine, has: (program) => program !== name });
  expect(missing("bwrap")).toEqual({
    why: "bubblewrap is not installed",
    fix: "apt install bubblewrap socat, or the same of your system",
  });
  expect(missing("prlimit").fix).toBe("apt install util-linux");
});

it.each([
  ["kernel.unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"],
  [
    "kernel.apparmor_restrict_unprivileged_userns",
    "1",
    "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  ],
  ["user.max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"],
])("names the setting of the kernel that forbids it: %s", (name, value, fix) => {
  expect(fenceAdvice({ ...machine, setting: (asked) => (asked === name ? value : undefined) })).toEqual({
    why: `${name} is ${value}`,
    fix,
  });
});

it("knows containers and other systems", () => {
  expect(fenceAdvice({ ...machine, inContainer: true }).why).toContain("container");
  expect(fenceAdvice({ ...machine, platform: "darwin" }).fix).toContain("seatbelt");
  expect(fenceAdvice(machine).fix).toContain("bwrap");
});
