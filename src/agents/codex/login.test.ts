import { expect, it } from "vitest";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import { codexLogin } from "./login.ts";

it("takes a key of the environment, and the address that it is for", () => {
  const login = codexLogin({ OPENAI_API_KEY: "a", CODEX_API_KEY: "b", OPENAI_BASE_URL: "https://models.example/v1" });
  expect(login).toMatchObject({ describe: "CODEX_API_KEY", upstream: "https://models.example/v1" });
  expect(login?.headers()).toEqual({ authorization: "Bearer b" });
  expect(codexLogin({ HOME: tempDir("home"), OPENAI_API_KEY: "" })).toBeUndefined();
});

it("reads what `codex login` stored in place, also after it was renewed", () => {
  const home = tempDir("home");
  const store = (stored: unknown): void => writeFiles(home, { ".codex/auth.json": JSON.stringify(stored) });
  store({ OPENAI_API_KEY: null, tokens: { access_token: "one", account_id: "acc" } });
  const login = codexLogin({ HOME: home });
  expect(login?.upstream).toBe("https://chatgpt.com/backend-api/codex");
  expect(login?.describe).not.toContain("one");
  expect(login?.headers()).toEqual({ authorization: "Bearer one", "chatgpt-account-id": "acc" });
  store({ tokens: { access_token: "two", account_id: "acc" } });
  expect(login?.headers()).toMatchObject({ authorization: "Bearer two" });
  writeFiles(home, { ".codex/auth.json": "{ half" });
  expect(login?.headers()).toMatchObject({ authorization: "Bearer one" });
  store({ OPENAI_API_KEY: "key" });
  expect(codexLogin({ HOME: "/nowhere", CODEX_HOME: `${home}/.codex` })?.headers()).toEqual({
    authorization: "Bearer key",
  });
});
