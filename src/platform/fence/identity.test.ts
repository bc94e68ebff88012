import { expect, it } from "vitest";
import { firstPerson, innerIdentity } from "./identity.ts";

const SYSTEM = "root:x:0:0:root:/root:/bin/sh\nwww:x:33:33::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n";

it("takes the first person of the machine, whatever the order", () => {
  const passwd = `${SYSTEM}zoe:x:1001:1001::/home/zoe:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n`;
  expect(firstPerson(passwd)).toEqual({ uid: 1_000, gid: 1_000 });
});

it("is nobody where root is alone, and never root", () => {
  expect(firstPerson(SYSTEM)).toBeUndefined();
  const { uid } = innerIdentity(() => SYSTEM);
  expect(uid).toBe(process.getuid?.() === 0 ? 65_534 : process.getuid?.());
});

it("survives lines that are none", () => {
  expect(firstPerson("\n:::\nx\nbad:x:one:two\n")).toBeUndefined();
});
