/** The local executor, with the real interpreters: in the fence, and without one. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { executorContract } from "../../test/contracts/executor.ts";
import { codePlace } from "../../test/support/code-place.ts";
import { tempDir } from "../../test/support/temp.ts";
import { localExecutor } from "./local.ts";
import { makePrinted } from "./local/printed.ts";

executorContract("in the fence", { open: () => codePlace(tempDir("code")) });
executorContract("unfenced", {
  open: () => codePlace(tempDir("code"), { kind: "none" }),
  gaps: { processes: "the system counts all processes of a user" },
});

const limits = { timeoutMs: 20_000, memoryBytes: 2 ** 28, processes: 32, diskBytes: 2 ** 24, outputBytes: 2 ** 20 };
const never = new AbortController().signal;

it("says what to install where there is no interpreter", async () => {
  const executor = localExecutor({ environment: { PATH: tempDir("empty") }, confine: undefined });
  const { end } = await executor.run({ language: "python", text: "" }, { folder: tempDir("code"), limits }, never);
  expect(end).toMatchObject({ is: "unavailable", reason: expect.stringContaining("apt install python3") });
});

it("asks a version manager's script once for the real program, and tells when that has none", async () => {
  const root = tempDir("shims");
  const [shims, real, folder] = ["shims", "real", "work"].map((name) => join(root, name));
  for (const path of [shims, real, folder]) mkdirSync(path as string);
  const log = join(root, "log");
  symlinkSync("/bin/sh", join(real as string, "python"));
  const shim = join(shims as string, "python3");
  writeFileSync(shim, `#!/bin/sh\necho asked >> ${log}\necho ${join(real as string, "python")}\n`);
  chmodSync(shim, 0o755);
  const environment = { PATH: `${shims}:/usr/bin:/bin` };
  const about = { folder: folder as string, limits };
  const executor = localExecutor({ environment, confine: undefined });
  // `-u` and `-X` are words of the shell's too, or it says that they are not: what counts is who was started.
  for (const _ of [1, 2]) await executor.run({ language: "python", text: "" }, about, never);
  const counted = await executor.run({ language: "shell", text: `wc -l < ${log}` }, about, never);
  expect(counted.stdout.text.trim()).toBe("1");
  writeFileSync(shim, "#!/bin/sh\necho 'no version of python is set' >&2; exit 127\n");
  const other = localExecutor({ environment, confine: undefined });
  expect((await other.run({ language: "python", text: "" }, about, never)).end).toEqual({
    is: "unavailable",
    reason: `${shim} does not start: no version of python is set`,
  });
});

it("keeps the first and the last of a long output in bounded memory, and a short one whole", () => {
  const printing = makePrinted(4);
  for (const part of ["ab", "cdé", "fgh", "i", "jk"]) printing.write(Buffer.from(part));
  expect(printing.printed()).toEqual({ text: "abcd\n[… 4 bytes left out …]\nhijk", bytes: 12, isCut: true });
  const short = makePrinted(4);
  for (const byte of Buffer.from("abcé€")) short.write(Uint8Array.of(byte));
  expect(short.printed()).toEqual({ text: "abcé€", bytes: 8 });
});
