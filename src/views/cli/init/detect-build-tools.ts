/** Projects whose build tool has the commands: Go, Rust, Maven, Gradle, Make. */
import type { Files, Found, Purpose } from "./detect.ts";

export function fromGo({ names, read }: Files): Found[] {
  const from = ["go.mod", "go.work"].find((name) => names.has(name));
  if (from === undefined) return [];
  const linter = [".golangci.yml", ".golangci.yaml", ".golangci.toml"].some((name) => names.has(name));
  const packages = names.has("go.work") ? workspacePackages(read("go.work")) : "./...";
  if (packages === "") return [];
  return [
    { purpose: "tests", command: `go test ${packages}`, from },
    { purpose: "lint", command: linter ? "golangci-lint run" : `go vet ${packages}`, from },
    { purpose: "build", command: `go build ${packages}`, from },
  ];
}

/** `./...` means nothing in a workspace whose top is no module: each one is named. */
function workspacePackages(text = ""): string {
  const [, block = ""] = /^use\s*\(([^)]*)\)/m.exec(text) ?? [];
  const single = [...text.matchAll(/^use\s+([^\s(]+)/gm)].map(([, path]) => path ?? "");
  const many = block.split("\n").map((line) => line.replace(/\/\/.*/, "").trim());
  const paths = [...single, ...many].filter((path) => /^[\w./-]+$/.test(path));
  return paths.map((path) => (path === "." ? "./..." : `${path.replace(/\/$/, "")}/...`)).join(" ");
}

export function fromRust({ names, read }: Files): Found[] {
  if (!names.has("Cargo.toml")) return [];
  const from = "Cargo.toml";
  const all = /^\[workspace\]/m.test(read(from) ?? "") ? " --workspace" : "";
  return [
    { purpose: "tests", command: `cargo test${all}`, from },
    {
      purpose: "lint",
      command: `cargo clippy${all} --all-targets -- -D warnings`,
      from,
      needs: ["cargo-clippy"],
    },
    { purpose: "build", command: `cargo build${all}`, from },
  ];
}

export function fromJava({ names }: Files): Found[] {
  if (names.has("pom.xml")) {
    const maven = names.has("mvnw") ? "./mvnw" : "mvn";
    return [
      { purpose: "tests", command: `${maven} -q test`, from: "pom.xml" },
      { purpose: "build", command: `${maven} -q -DskipTests package`, from: "pom.xml" },
    ];
  }
  const from = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"].find((name) =>
    names.has(name),
  );
  if (from === undefined) return [];
  const gradle = names.has("gradlew") ? "./gradlew" : "gradle";
  return [
    { purpose: "tests", command: `${gradle} test`, from },
    { purpose: "build", command: `${gradle} assemble`, from },
  ];
}

/** Names of targets, the usual one first. */
const TARGETS: Readonly<Record<Purpose, readonly string[]>> = {
  tests: ["test", "tests", "check"],
  types: ["typecheck", "types", "mypy"],
  lint: ["lint"],
  build: ["build"],
};

export function fromMake({ names, read }: Files): Found[] {
  const from = ["GNUmakefile", "makefile", "Makefile"].find((name) => names.has(name));
  const text = from === undefined ? undefined : read(from);
  if (from === undefined || text === undefined) return [];
  // `a b: c` makes two targets; `A := b` is a variable.
  const targets = new Set(
    [...text.matchAll(/^([\w. -]+):(?!=)/gm)].flatMap(([, words]) => (words ?? "").trim().split(/\s+/)),
  );
  return (Object.keys(TARGETS) as Purpose[]).flatMap((purpose) => {
    const target = TARGETS[purpose].find((name) => targets.has(name));
    return target === undefined ? [] : [{ purpose, command: `make ${target}`, from }];
  });
}
