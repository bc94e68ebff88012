/** Projects whose build tool has the commands: Go, Rust, Maven, Gradle, Make. */
import type { Files, Found, Purpose } from "./detect.ts";

export function fromGo({ names }: Files): Found[] {
  if (!names.has("go.mod")) return [];
  const from = "go.mod";
  const linter = [".golangci.yml", ".golangci.yaml", ".golangci.toml"].some((name) => names.has(name));
  return [
    { purpose: "tests", command: "go test ./...", from },
    { purpose: "lint", command: linter ? "golangci-lint run" : "go vet ./...", from },
    { purpose: "build", command: "go build ./...", from },
  ];
}

export function fromRust({ names }: Files): Found[] {
  if (!names.has("Cargo.toml")) return [];
  const from = "Cargo.toml";
  return [
    { purpose: "tests", command: "cargo test", from },
    { purpose: "lint", command: "cargo clippy --all-targets -- -D warnings", from },
    { purpose: "build", command: "cargo build", from },
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
  const from = ["build.gradle", "build.gradle.kts"].find((name) => names.has(name));
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
