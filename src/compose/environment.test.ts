import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { makeRedact } from "../journal/redact.ts";
import { freezeEnvironment, thawEnvironment } from "./environment.ts";

const env = {
  PATH: "/usr/bin:/bin",
  HOME: "/nowhere/user",
  LANG: "C.UTF-8",
  HTTPS_PROXY: "http://user:hunter2-secret@proxy:8080",
  NPM_TOKEN: "npm-very-secret-token",
  MY_FLAG: "on",
  AWS_SECRET_ACCESS_KEY: "never-asked-for",
};
const redact = makeRedact({ environment: env });

describe("the environment of a run", () => {
  it("is frozen without any secret, and whole again for whoever drives", () => {
    const frozen = freezeEnvironment(env, { add: ["NPM_TOKEN", "MY_FLAG"], home: "private", redact });
    expect(JSON.stringify(frozen)).not.toMatch(/hunter2|very-secret|never-asked/);
    expect(frozen).toMatchObject({
      PATH: "/usr/bin:/bin",
      LANG: "C.UTF-8",
      HTTPS_PROXY: "",
      NPM_TOKEN: "",
      MY_FLAG: "",
    });
    const home = join(tempDir("environment"), "home");
    const thawed = thawEnvironment(frozen, { env, run: "r-1", home });
    expect(thawed).toEqual({
      PATH: env.PATH,
      LANG: env.LANG,
      HTTPS_PROXY: env.HTTPS_PROXY,
      NPM_TOKEN: env.NPM_TOKEN,
      MY_FLAG: "on",
      HOME: home,
      PAWL_RUN: "r-1",
    });
    expect(existsSync(home)).toBe(true);
  });

  it("keeps the PATH of the start, and leaves out what the driver does not have", () => {
    const frozen = freezeEnvironment(env, { add: ["MY_FLAG"], home: "private", redact });
    const thawed = thawEnvironment(frozen, { env: { PATH: "/other" }, run: "r-1", home: undefined });
    expect(thawed).toEqual({ PATH: env.PATH, LANG: env.LANG, PAWL_RUN: "r-1" });
  });

  it("has the user's own HOME when that is asked for", () => {
    const frozen = freezeEnvironment(env, { add: [], home: "user", redact });
    expect(thawEnvironment(frozen, { env, run: "r-1", home: "/unused" })["HOME"]).toBe("/nowhere/user");
    const byName = freezeEnvironment(env, { add: ["HOME"], home: "private", redact });
    expect(thawEnvironment(byName, { env, run: "r-1", home: "/unused" })["HOME"]).toBe("/nowhere/user");
  });
});
