import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { messagesWorld, type MessagesWorld } from "../../../test/support/messages.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { AgentEvent } from "../../ports.ts";
import type { StandinRequest } from "../../standin/request.ts";
import type { Step } from "../../standin/script.ts";

const CSV = "n\n1\n2\n3\n";
const SUM = "rows = open('data.csv').read().split()[1:]\nprint(sum(map(int, rows)))";

/** The same, and soon started. */
const add: Step = {
  text: "Ran it.",
  execute: [{ language: "shell", code: "awk 'NR>1{s+=$1} END{print s}' data.csv", run: true }],
};

function given(): { path: string; sha256: string; name: string } {
  const path = join(tempDir("given"), "data.csv");
  writeFileSync(path, CSV);
  return { path, sha256: createHash("sha256").update(CSV).digest("hex"), name: "data.csv" };
}

const executions = (events: readonly AgentEvent[]) => events.filter((event) => event.type === "execution");
const notices = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : [])).join("\n");
const python = (code: string, more: Partial<NonNullable<Step["execute"]>[number]> = { run: true }): Step => ({
  text: "Ran it.",
  execute: [{ language: "python", code, ...more }],
});
const containers = ({ sent }: MessagesWorld): unknown[] => sent().map((body) => body["container"]);
const uploadsIn = (body: unknown): number => JSON.stringify(body).split('"container_upload"').length - 1;

describe("code in the provider's sandbox", () => {
  it("finds the uploaded file, is told as an execution, and goes on in the same container, whatever session", async () => {
    const world = await messagesWorld({
      script: { rules: [{ when: { promptIncludes: "again" }, steps: [python("print(2 + 2)")] }], steps: [python(SUM)] },
      options: { executor: "claude", files: [given()] },
    });
    const [asked, uuid] = [world.request(), randomUUID()];
    const first = await play(await world.open(asked), "sum it up", { uuid });
    expect(first.end).toMatchObject({ outcome: { is: "done" }, finalText: "Ran it.", usage: { toolCalls: 2 } });
    const [ran] = executions(first.events);
    expect(ran).toMatchObject({
      language: "python",
      code: SUM,
      execution: { end: { is: "exit", code: 0 }, stdout: { text: "6\n", bytes: 2 }, stderr: { text: "" } },
      container: { id: expect.stringMatching(/^container_/) as string },
    });
    expect(ran?.container?.expiresAt).toBeGreaterThan(Date.now());
    const { type: _, ...execution } = ran as NonNullable<typeof ran>;
    expect(await world.agent.inspect(asked, { uuid })).toMatchObject({ is: "ended", executions: [execution] });
    const second = await play(await world.open(), "again");
    expect(executions(second.events)).toMatchObject([
      { container: { id: ran?.container?.id }, execution: { stdout: { text: "4\n" } } },
    ]);
    expect(containers(world)).toEqual([undefined, ran?.container?.id]);
    expect(world.sent().map(uploadsIn)).toEqual([1, 0]);
    const names = ["Read", "Write", "Edit", "List", "Search", "done", "code_execution"];
    expect(world.sent()[0]).toMatchObject({ tools: names.map((name) => ({ name })) });
  });

  it("answers in a form after it has run code, with nothing but that tool", async () => {
    const step: Step = { answer: { n: 6 }, execute: [{ language: "python", code: SUM, run: true }] };
    const world = await messagesWorld({ script: [step], options: { executor: "claude", files: [given()] } });
    const answer = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { end, events } = await play(await world.open({ answer }), "sum it up");
    expect(end).toMatchObject({ outcome: { is: "done" }, answer: { n: 6 } });
    expect(executions(events)).toHaveLength(1);
    expect(world.sent()[0]?.["tools"]).toMatchObject([{ name: "code_execution" }]);
  });

  it("puts what the code made into the workspace, by its name alone and through no link", async () => {
    const files = [
      { path: "/etc/plot.png", base64: Buffer.from([0, 255, 13, 10]).toString("base64") },
      { path: "link.txt", text: "through a link" },
    ];
    const world = await messagesWorld({
      script: [python("plot()", { result: { stdout: "made\n", files } })],
      options: { executor: "claude" },
    });
    const outside = join(tempDir("outside"), "target.txt");
    writeFileSync(outside, "mine");
    symlinkSync(outside, join(world.workspace, "link.txt"));
    const { events } = await play(await world.open(), "plot");
    expect(executions(events)).toMatchObject([
      {
        files: [{ path: "plot.png", bytes: 4, fileId: expect.any(String) as string }],
        execution: { files: [{ path: "plot.png", bytes: 4 }] },
      },
    ]);
    expect(readFileSync(join(world.workspace, "plot.png"))).toEqual(Buffer.from([0, 255, 13, 10]));
    expect(readFileSync(outside, "utf8")).toBe("mine");
    expect(notices(events)).toContain("could not be fetched");
    expect(readdirSync(world.workspace).toSorted()).toEqual(["link.txt", "plot.png"]);
  });

  it("tells every way to fail in pawl's own words", async () => {
    const errors = [
      "execution_time_exceeded",
      "unavailable",
      "too_many_requests",
      "output_file_too_large",
      "invalid_tool_input",
    ];
    const execute: Step["execute"] = [
      ...errors.map((error) => ({ language: "shell" as const, code: error, result: { error } })),
      { language: "python", code: "1/0", result: { stderr: "ZeroDivisionError", exitCode: 1 } },
      { language: "shell", code: "eat", result: { exitCode: 137 } },
    ];
    const world = await messagesWorld({ script: [{ text: "all bad", execute }], options: { executor: "claude" } });
    const { events } = await play(await world.open(), "fail");
    expect(executions(events).map(({ language, execution }) => [language, execution.end])).toEqual([
      ["shell", { is: "timeout", afterMs: expect.any(Number) as number }],
      ["shell", { is: "unavailable", reason: "the sandbox says unavailable" }],
      ["shell", { is: "unavailable", reason: "the sandbox is asked too often" }],
      ["shell", { is: "limit", which: "disk", message: expect.any(String) as string }],
      ["shell", { is: "unavailable", reason: "the sandbox says invalid_tool_input" }],
      ["python", { is: "exit", code: 1 }],
      ["shell", { is: "signal", signal: "SIGKILL" }],
    ]);
  });
});

describe("a container that is over", () => {
  const files = (): { executor: string; files: ReturnType<typeof given>[] } => ({
    executor: "claude",
    files: [given()],
  });

  it.each([400, 500])("is made anew with the files in it, when it is refused with %i", async (status) => {
    let refused = 0;
    const script = ({ body, turns }: StandinRequest): Step => {
      const isLater = JSON.stringify(turns).includes("later");
      if (!isLater || body["container"] === undefined) return add;
      refused += 1;
      return { status, message: "The container has expired" };
    };
    const world = await messagesWorld({ script, options: files() });
    const session = await world.open();
    const [before] = executions((await play(session, "sum it up")).events);
    const { end, events } = await play(session, "later");
    expect(end).toMatchObject({ outcome: { is: "done" }, usage: { requests: 2 } });
    expect(notices(events)).toContain("container is gone");
    const [after] = executions(events);
    expect(after?.execution.stdout.text).toBe("6\n");
    expect(after?.container?.id).not.toBe(before?.container?.id);
    expect([refused, uploadsIn(world.sent().at(-1))]).toEqual([1, 2]);
    expect(world.standin.uploaded).toEqual(["data.csv"]);
  });

  it("is made anew by the script's own word, and when its time is up", async () => {
    const script = {
      rules: [{ when: { promptIncludes: "later" }, steps: [{ ...add, expireContainer: true }] }],
      steps: [add],
    };
    const world = await messagesWorld({ script, options: files() });
    await play(await world.open(), "sum it up");
    const { end, events } = await play(await world.open(), "later");
    expect(end.outcome).toEqual({ is: "done" });
    expect(executions(events)).toMatchObject([{ execution: { stdout: { text: "6\n" } } }]);
    const kept = join(world.home, "messages/sandbox.json");
    const known = JSON.parse(readFileSync(kept, "utf8")) as { container: { id: string; expiresAt: number } };
    writeFileSync(kept, JSON.stringify({ ...known, container: { ...known.container, expiresAt: Date.now() } }));
    await play(await world.open(), "sum it up again");
    expect(containers(world).at(-1)).toBeUndefined();
    expect(uploadsIn(world.sent().at(-1))).toBe(1);
  });

  it("is left behind when the code itself is told so, and the model goes on in another", async () => {
    const gone = python("x", { result: { error: "container_expired" } });
    const anew = { when: { lastUserIncludes: "container is a new one" }, steps: [add] };
    const world = await messagesWorld({ script: { rules: [anew], steps: [gone] }, options: files() });
    const { end, events } = await play(await world.open(), "run");
    expect(end).toMatchObject({ outcome: { is: "done" }, usage: { requests: 2 } });
    expect(executions(events).map(({ execution }) => execution)).toMatchObject([
      { end: { is: "unavailable", reason: "the container has expired" } },
      { end: { is: "exit", code: 0 }, stdout: { text: "6\n" } },
    ]);
    expect(containers(world)).toEqual([undefined, undefined]);
  });

  it("gets files that the API has forgotten uploaded again", async () => {
    const world = await messagesWorld({ script: [add, add], options: files() });
    await play(await world.open(), "sum it up");
    const kept = join(world.home, "messages/sandbox.json");
    const known = JSON.parse(readFileSync(kept, "utf8")) as { uploads: Record<string, string> };
    const uploads = Object.fromEntries(Object.keys(known.uploads).map((hash) => [hash, "file_forgotten"]));
    writeFileSync(kept, JSON.stringify({ uploads, renamed: {} }));
    const session = await world.open();
    const { end, events } = await play(session, "once more");
    expect(end.outcome).toEqual({ is: "done" });
    expect(executions(events)).toMatchObject([{ execution: { stdout: { text: "6\n" } } }]);
    expect((await play(session, "and on")).end.outcome).toEqual({ is: "done" });
  });
});

describe("a file for the sandbox", () => {
  it("that is another than at the start ends the turn with its name, before anything is asked", async () => {
    const file = given();
    const world = await messagesWorld({ script: [add], options: { executor: "claude", files: [file] } });
    writeFileSync(file.path, "changed");
    const { end } = await play(await world.open(), "sum it up");
    expect(end.outcome).toMatchObject({ is: "cut", reason: expect.stringContaining("data.csv") as string });
    expect(world.standin.requests).toEqual([]);
  });
});
