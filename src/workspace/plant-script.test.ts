import { expect, it } from "vitest";
import { plantAtEnd } from "./plant-script.ts";

it.each([
  ["check.sh", "[ $(./a) = 5 ] || exit 1\n", "[ $(./a) = 5 ] || exit 1\nexit 1\n\n"],
  ["check.sh", "fail=0\nexit $fail\n", "fail=0\nexit 1\nexit $fail\n"],
  ["verify", "#!/bin/sh\n. ./a.sh\n", "#!/bin/sh\n. ./a.sh\nexit 1\n\n"],
  ["run.js", "assert(1)\nif (x) process.exit(1);\n", "assert(1)\nif (x) process.exit(1);\n;throw new Error()\n\n"],
  ["run.py", "assert f()\n", "assert f()\nraise AssertionError()\n\n"],
])("a failure stands where %s ends", (path, text, planted) => expect(plantAtEnd(path, text)).toBe(planted));

it.each([
  ["check.sh", "exec node --test\n"],
  ["check.sh", "[ -n x ] && exit 0\n./a\n"],
  ["check.sh", "done() { exit $1; }\ndone 0\n"],
  ["run.js", "main().then(() => process.exit(0));\nx();\n"],
  ["run.py", "if __name__ == '__main__':\n    sys.exit(main())\n"],
  ["run.py", "unittest.main()\n"],
  ["verify", "./a\n"],
  ["run.rb", "a\n"],
])("and nowhere in %s that may end well before: %s", (path, text) => expect(plantAtEnd(path, text)).toBeUndefined());
