/** Files by which a package manager or a runner is told what to run, what to load first and where packages come from. */
import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { detectProtect } from "./detect.ts";

function detected(command = "true") {
  const project = {
    names: new Set<string>(),
    manifests: [],
    read: () => undefined,
    holds: () => false,
    list: () => [],
  };
  const asked = { commands: [command], protect: [], unprotect: [], allowTestChanges: false, pathFolders: [] };
  return detectProtect(project, asked);
}

const isConfig = (path: string, command?: string): boolean => globMatcher(detected(command).config)(path);

const ALWAYS: Readonly<Record<string, string>> = {
  "npm and its kin":
    ".npmrc pnpm-workspace.yaml pkg/.pnpmfile.cjs .pnpmfile.mjs .yarnrc.yml .yarnrc .yarn/releases/yarn.cjs .yarn/plugins/x.cjs " +
    ".yarn/patches/vitest.patch .yarn/cache/vitest.zip .pnp.cjs .pnp.loader.mjs patches/vitest+3.0.0.patch patches/chai@5.1.0.patch " +
    "bunfig.toml node.config.json",
  "runners of JavaScript":
    "vitest.config.mts vitest.workspace.json vitest.projects.ts jest-puppeteer.config.js cypress.json cypress.env.json playwright-ct.config.ts " +
    "wdio.shared.conf.ts ava.config.cjs .taprc .tap/plugins/x.js .jasmine.json karma.conf.js wtr.config.mjs testem.js .testem.json " +
    "rstest.config.ts .detoxrc.js .testcaferc.json intern.json .labrc.js .c8rc.json",
  Python:
    "tox.ini tox.toml hatch.toml uv.toml pdm.toml poetry.toml noxfile.py pytest.toml nose2.cfg .noserc .stestr.conf .coveragerc.toml .envrc",
  Rust: ".cargo/config.toml rust-toolchain.toml .config/nextest.toml insta.yaml .config/insta.yaml",
  Go: "go.work svc/go.work svc/go.work.sum",
  "Java and its kin":
    ".mvn/jvm.config mvnw gradlew gradle/wrapper/gradle-wrapper.properties testng.xml .sdkmanrc .java-version .jvmopts .sbtopts .bazelrc .bazelversion",
  Ruby: ".rspec .rspec-local .bundle/config .simplecov",
  PHP: "phpunit.xml phpunit.dist.xml behat.yml codeception.dist.yml phpspec.yml",
  ".NET": "a.runsettings xunit.runner.json testconfig.json",
  others:
    ".proverc .hspec cabal.project.local dart_test.yaml .busted .shellspec .Rprofile .Renviron tests.edn CTestCustom.cmake",
  "versions of programs":
    ".tool-versions .prototools mise.toml .mise.local.toml .mise/config.toml .config/mise.toml .config/mise/config.toml .go-version",
};

describe("configuration of package managers and runners", () => {
  it.each(Object.entries(ALWAYS))("%s", (_, listed) => {
    expect(listed.split(" ").filter((path) => !isConfig(path))).toEqual([]);
  });

  it.each([
    ["lerna.json", "npx lerna run test"],
    ["rush.json", "rush test"],
    ["common/config/rush/command-line.json", "rush test"],
    ["moon.yml", "moon run :test"],
    [".moon/tasks.yml", "moon run :test"],
    ["Directory.Build.props", "dotnet test"],
    ["src/Directory.Build.targets", "dotnet test"],
    ["nuget.config", "dotnet test"],
    ["global.json", "dotnet test"],
    ["Makefile.toml", "cargo make test"],
    ["magefile.go", "mage test"],
    ["pants.toml", "pants test ::"],
    ["CMakePresets.json", "ctest --preset ci"],
    ["project.yml", "ceedling test:all"],
    ["Earthfile", "earthly +test"],
    ["shell.nix", "nix-shell --run 'make test'"],
    ["flake.nix", "nix develop -c make"],
    ["devbox.json", "devbox run test"],
    ["import_map.json", "deno test"],
    [".env", "bun test"],
    [".env.test", "bun test"],
    ["build.xml", "ant test"],
  ])("%s, where the check is %s", (path, command) => {
    expect([isConfig(path, command), isConfig(path)]).toEqual([true, false]);
  });

  it("keeps the keys by which package.json, deno.json, composer.json and Python's files say what is run", () => {
    const { keys } = detected();
    expect(keys["**/package.json"]).toEqual(
      expect.arrayContaining(["wireit", "packageManager", "volta", "dependenciesMeta"]),
    );
    expect(keys["**/deno.{json,jsonc}"]).toEqual(expect.arrayContaining(["tasks", "test"]));
    expect(keys["**/composer.json"]).toEqual(expect.arrayContaining(["scripts", "autoload-dev"]));
    const sections = [
      "tool.poe*",
      "tool.taskipy*",
      "tool.pdm.scripts*",
      "tool.rye.scripts*",
      "tool.hatch.envs*",
      "aliases",
    ];
    expect(keys["**/{pyproject.toml,setup.cfg}"]).toEqual(expect.arrayContaining(sections));
    expect(keys["**/{Pipfile,pixi.toml}"]).toEqual(expect.arrayContaining(["scripts", "tasks"]));
  });

  it.each(
    "package.json .env gradle.properties settings.gradle Directory.Packages.props global.json src/global.json patches/readme.md".split(
      " ",
    ),
  )("leaves %s to the agent", (path) => expect(isConfig(path)).toBe(false));
});
