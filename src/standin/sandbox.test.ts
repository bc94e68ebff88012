import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Anthropic, { APIError, toFile } from "@anthropic-ai/sdk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import type { Script, Step } from "./script.ts";
import { startStandin, type Standin, type StandinOptions } from "./server.ts";

const MODEL = "claude-opus-5-5";
const TOOL = { type: "code_execution_20250825", name: "code_execution" } as const;
const NEWER = { type: "code_execution_20260120", name: "code_execution" } as const;
const go = (text = "go"): Anthropic.MessageParam[] => [{ role: "user", content: text }];
const base = { model: MODEL, max_tokens: 1000, tools: [TOOL], messages: go() };

const open: Standin[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((standin) => standin.close()))));

async function start(script: Script | Step[], options: Partial<StandinOptions> = {}): Promise<Anthropic> {
  const standin = await startStandin({ script: Array.isArray(script) ? { steps: script } : script, ...options });
  open.push(standin);
  return new Anthropic({ baseURL: standin.url, apiKey: "k", maxRetries: 0 });
}

const withoutIds = ({ content }: Anthropic.Message): unknown[] =>
  content.map((block) => ({ ...block, id: "", tool_use_id: "" }));

describe("code that the stand-in model runs itself", () => {
  it("speaks the blocks of the server tool, whole and as a stream, as the official client reads them", async () => {
    const client = await start([
      {
        text: ["Let me see.", "It is 4."],
        execute: [
          { language: "python", code: "print(2 + 2)", result: { stdout: "4\n" } },
          { language: "shell", code: "ls /nothing", result: { stderr: "no such file\n", exitCode: 2 } },
        ],
      },
    ]);
    const whole = await client.messages.create(base);
    const streamed = await client.messages.stream(base).finalMessage();
    expect(withoutIds(streamed)).toEqual(withoutIds(whole));
    expect(streamed.container?.id).toMatch(/^container_/);
    expect(whole.content.map((block) => block.type)).toEqual([
      "text",
      "server_tool_use",
      "text_editor_code_execution_tool_result",
      "server_tool_use",
      "bash_code_execution_tool_result",
      "server_tool_use",
      "bash_code_execution_tool_result",
      "text",
    ]);
    expect(whole.content.at(-2)).toMatchObject({ content: { return_code: 2, stderr: "no such file\n" } });
    expect(whole.stop_reason).toBe("end_turn");
  });

  it("gives Python its own tool where the offered version has it, and errors their code", async () => {
    const step: Step = { execute: [{ language: "python", code: "while 1: 1", result: { error: "unavailable" } }] };
    const client = await start([step]);
    const { content } = await client.messages.create({ ...base, tools: [NEWER] });
    expect(content).toMatchObject([
      { type: "server_tool_use", name: "code_execution", input: { code: "while 1: 1" } },
      { type: "code_execution_tool_result", content: { error_code: "unavailable" } },
    ]);
    const without = await client.messages.create({ ...base, tools: [] });
    expect(without.content).toMatchObject([{ type: "text", text: "ok" }]);
  });

  it("goes on with a container, and refuses one that is unknown or that the script lets expire", async () => {
    const run: Step = { text: "ran", execute: [{ language: "shell", code: "true" }] };
    const client = await start({
      rules: [{ when: { promptIncludes: "later" }, steps: [{ ...run, expireContainer: true }] }],
      steps: [run],
    });
    const first = await client.messages.create(base);
    const container = first.container?.id ?? "";
    expect((await client.messages.create({ ...base, container })).container?.id).toBe(container);
    const later = { ...base, messages: go("later") };
    const refused = await client.messages.create({ ...later, container }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(APIError);
    expect((refused as APIError).status).toBe(400);
    const fresh = await client.messages.create(later);
    expect(fresh.container?.id).toMatch(/^container_/);
    expect(fresh.container?.id).not.toBe(container);
    await expect(client.messages.create({ ...base, container })).rejects.toThrow("expired");
    await expect(client.messages.create({ ...base, container: "container_no" })).rejects.toThrow("expired");
  });

  it("counts an answer that only ran code as a step", async () => {
    const client = await start([
      { execute: [{ language: "shell", code: "true" }], stopReason: "pause_turn" },
      { text: "end" },
    ]);
    const paused = await client.messages.create(base);
    expect(paused.stop_reason).toBe("pause_turn");
    const messages = [
      ...go(),
      { role: "assistant" as const, content: paused.content as Anthropic.ContentBlockParam[] },
    ];
    expect((await client.messages.create({ ...base, messages })).content).toMatchObject([{ text: "end" }]);
  });

  it("really runs code with the uploaded files where it was started so, and gives what it produced", async () => {
    const code = "rows = open('in.csv').read().split()\nopen('out.txt', 'w').write(rows[1])\nprint(len(rows))";
    const client = await start([{ text: "done", execute: [{ language: "python", code, run: true }] }], {
      runCode: true,
    });
    const temporary = tempDir("sandbox");
    vi.stubEnv("TMPDIR", temporary);
    const file = await client.files.upload({ file: await toFile(Buffer.from("a\nbé\n"), "in.csv") });
    const content = [
      { type: "container_upload" as const, file_id: file.id },
      { type: "text" as const, text: "go" },
    ];
    const answer = await client.messages.create({ ...base, messages: [{ role: "user", content }] });
    const result = answer.content.find((block) => block.type === "bash_code_execution_tool_result")?.content;
    expect(result).toMatchObject({ return_code: 0, stdout: "2\n", stderr: "" });
    const produced = result?.type === "bash_code_execution_result" ? (result.content[0]?.file_id ?? "") : "";
    expect((await client.files.retrieveMetadata(produced)).filename).toBe("out.txt");
    expect(await (await client.files.download(produced)).text()).toBe("bé");
    await expect(client.files.download(file.id)).rejects.toThrow("not downloadable");
    expect(readdirSync(temporary)).toHaveLength(1);
    await open.pop()?.close();
    expect(readdirSync(temporary)).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("runs nothing unless it was started so", async () => {
    const made = join(tempDir("sandbox"), "made");
    const client = await start([{ execute: [{ language: "shell", code: `touch '${made}'`, run: true }] }]);
    const { content } = await client.messages.create(base);
    expect(content.at(-1)).toMatchObject({ content: { error_code: "unavailable" } });
    expect(existsSync(made)).toBe(false);
  });
});

describe("files of the stand-in", () => {
  it("are uploaded, listed, described and removed; unknown ones are not found", async () => {
    const client = await start([{ text: "ok" }], { apiKey: "k" });
    const one = await client.files.upload({ file: await toFile(Buffer.alloc(3), "a.bin", { type: "image/png" }) });
    expect(one).toMatchObject({ type: "file", filename: "a.bin", mime_type: "image/png", size_bytes: 3 });
    const listed = [];
    for await (const file of client.files.list()) listed.push(file.id);
    expect(listed).toEqual([one.id]);
    await client.files.delete(one.id);
    await expect(client.files.retrieveMetadata(one.id)).rejects.toThrow("not found");
    const content = [{ type: "container_upload" as const, file_id: one.id }];
    await expect(client.messages.create({ ...base, messages: [{ role: "user", content }] })).rejects.toThrow(
      "not found",
    );
  });
});

describe("an answer in a form", () => {
  it("is the text, or the input of the tool that has to be called", async () => {
    const client = await start([{ answer: { do: "answer", n: 3 } }]);
    const format = { type: "json_schema" as const, schema: { type: "object" } };
    const asked = { model: MODEL, max_tokens: 10, messages: go() };
    const text = await client.messages.create({ ...asked, output_config: { format } });
    expect(text.content).toMatchObject([{ type: "text", text: '{"do":"answer","n":3}' }]);
    const tools = [{ name: "give", input_schema: { type: "object" as const } }];
    const called = await client.messages.create({ ...asked, tools, tool_choice: { type: "tool", name: "give" } });
    expect(called.content).toMatchObject([{ type: "tool_use", name: "give", input: { do: "answer", n: 3 } }]);
  });

  it("tells what was left out of the conversation where that was allowed", async () => {
    const edit = { type: "clear_tool_uses_20250919", cleared_tool_uses: 2, cleared_input_tokens: 900 };
    const client = await start([{ text: "short", appliedEdits: [edit] }]);
    const asked = { model: MODEL, max_tokens: 10, messages: go() };
    const edits = [{ type: "clear_tool_uses_20250919" as const }];
    const streamed = client.beta.messages.stream({ ...asked, context_management: { edits } });
    expect((await streamed.finalMessage()).context_management?.applied_edits).toEqual([edit]);
    expect(await client.messages.create(asked)).not.toHaveProperty("context_management");
  });
});
