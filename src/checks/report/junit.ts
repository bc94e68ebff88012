/** JUnit XML, as pytest, node:test, surefire, gradle, playwright and many others write it. */
import { MAX_TESTS, type RawTest } from "./report.ts";
import { readXml } from "./xml.ts";

const MAX_SAID_CHARS = 16_000;

interface Open {
  attributes: Readonly<Record<string, string>>;
  status: RawTest["status"];
  /** Inside its failure, or why it is skipped. */
  telling: boolean;
  said: string;
}

export const isJunit = (text: string): boolean => /<testsuites?[\s>/]/.test(text.slice(0, 4_000));

/** A report that breaks off is none: the tests after it are not known. */
export function readJunit(text: string): RawTest[] | undefined {
  const tests: RawTest[] = [];
  const suites: string[] = [];
  let test: Open | undefined;
  const whole = readXml(text, {
    open(name, attributes) {
      if (name === "testsuite") suites.push(attributes["name"] ?? "");
      else if (name === "testcase") test = { attributes, status: "pass", telling: false, said: "" };
      else if (test === undefined) return;
      else if (name === "failure" || name === "error") {
        test.status = "fail";
        test.telling = true;
        const { type = "", message = "" } = attributes;
        test.said += message.includes(type) || type === "" ? `${message}\n` : `${type}: ${message}\n`;
      } else if (name === "skipped" && test.status === "pass") {
        test.status = "skip";
        test.telling = true;
      }
    },
    text(said) {
      if (test?.telling === true && test.said.length < MAX_SAID_CHARS) test.said += said;
    },
    close(name) {
      if (name === "testsuite") suites.pop();
      if (test === undefined) return;
      if (name === "failure" || name === "error" || name === "skipped") test.telling = false;
      else if (name === "testcase") {
        if (tests.length < MAX_TESTS) tests.push(rawOf(test, suites));
        test = undefined;
      }
    },
  });
  return whole ? tests : undefined;
}

/** How pytest says where a test was skipped: the file and the line before the reason. */
const SKIPPED_AT = /^(?<file>[^\n]+?):\d+: /;

function rawOf({ attributes, status, said }: Open, suites: readonly string[]): RawTest {
  const { name = "", classname = "", file } = attributes;
  const skippedBy = status === "skip" ? SKIPPED_AT.exec(said)?.groups?.["file"] : undefined;
  const told = status === "fail" ? { said } : skippedBy === undefined ? {} : { skippedBy };
  // pytest, when a file cannot be collected.
  if (classname === "" && said.startsWith("collection failure"))
    return { file: file ?? `${name.replaceAll(".", "/")}.py`, names: [], status, broken: true, ...told };
  if (file?.endsWith(".py") === true) return { ...pythonName(file, { classname, name }), status, joint: "::", ...told };
  // node:test: the class is "test" or the suite, and the suites are its describes.
  if (file !== undefined && (classname === "test" || classname === suites.at(-1))) {
    // A file that ends badly is a test with its own path as its name.
    const isFile = name === file || file.endsWith(`/${name}`);
    return { file, names: isFile ? [] : [...suites, name], status, broken: isFile && status === "fail", ...told };
  }
  if (classname === "" || classname === name) return { file, names: [...suites.slice(-1), name], status, ...told };
  return { file, names: [classname, name], status, ...told };
}

/** As pytest itself names it: the file, the class, the test. */
function pythonName(
  file: string,
  { classname, name }: { classname: string; name: string },
): Pick<RawTest, "file" | "names"> {
  const module = file.slice(0, -".py".length).replaceAll("/", ".");
  const classes = classname.startsWith(`${module}.`) ? classname.slice(module.length + 1).split(".") : [];
  return { file, names: [...classes, name] };
}
