import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { UsageError } from "../errors.ts";
import { allowedEnvironment } from "./environment.ts";

describe("the environment of agents and checks", () => {
  it("has what programs need to run, and the run's id", () => {
    const env = { PATH: "/bin", HOME: "/h", LANG: "C", LC_ALL: "C", TZ: "UTC", https_proxy: "http://p:1" };
    expect(allowedEnvironment(env, { run: "r-1" })).toEqual({ ...env, PAWL_RUN: "r-1" });
    expect(allowedEnvironment({}, { run: "r-1" })["PATH"]).toContain("/usr/bin");
  });

  it("has no secret, no variable that loads code, and nothing of pawl's or git's own", () => {
    const canaries = Array.from({ length: 20 }, (_, at) => `CANARY_${at}_TOKEN`);
    const secrets = "ANTHROPIC_API_KEY OPENAI_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY SSH_AUTH_SOCK NPM_TOKEN";
    const loading = "NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH BASH_ENV ENV PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT";
    const own = "PAWL_HOME PAWL_FAULT PAWL_PROC PAWL_RUN GIT_DIR GIT_SSH_COMMAND GIT_CONFIG_COUNT BASH_FUNC_ls%% IFS";
    const names = [...canaries, "PATH ", "lc_all", ...[secrets, loading, own].flatMap((each) => each.split(" "))];
    const env = Object.fromEntries(names.map((name) => [name, "secret"]));
    const { PATH, ...rest } = allowedEnvironment(env, { run: "r-1" });
    expect(PATH).not.toBe("secret");
    expect(rest).toEqual({ PAWL_RUN: "r-1" });
  });

  it("has what a person asked for by name, with its value untouched", () => {
    const env = { DATABASE_URL: "pg://$(x)\n`y`", OTHER: "no" };
    const given = allowedEnvironment(env, { run: "r-1", add: ["DATABASE_URL", "ABSENT"] });
    expect(given).toMatchObject({ DATABASE_URL: env.DATABASE_URL });
    expect(Object.keys(given)).not.toContain("ABSENT");
    expect(Object.keys(given)).not.toContain("OTHER");
  });

  it("refuses names that are none, and pawl's own (A19)", () => {
    for (const name of [
      "",
      "A=B",
      "A B",
      "-x",
      "1A",
      "A\nB",
      "BASH_FUNC_x%%",
      "a;b",
      "$(x)",
      "PAWL_HOME",
      "PAWL_RUN",
    ]) {
      expect(() => allowedEnvironment({}, { run: "r-1", add: [name] })).toThrow(UsageError);
    }
  });

  it("can have a private home, with the toolchains of the real one", () => {
    const home = tempDir("home");
    mkdirSync(join(home, ".rustup"));
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, "config"), PATH: "/bin" };
    expect(allowedEnvironment(env, { run: "r-1", home: "/private" })).toEqual({
      PATH: "/bin",
      HOME: "/private",
      RUSTUP_HOME: join(home, ".rustup"),
      PAWL_RUN: "r-1",
    });
  });
});
