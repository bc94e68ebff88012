/** Logs, settings and small languages. */
import { errs, javascript, python, typescript, type Problem } from "./problem.ts";

export const PARSING: readonly Problem[] = [
  {
    name: "parse-access-log",
    topic: "parsing",
    question:
      "In access.log: how many answers have a status of 500 or more, and how many bytes were sent in all? count bytes",
    files: ["access.log"],
    attempts: [
      errs(
        "missing-file",
        "No such file or directory: 'logs/access.log'",
        python(String.raw`
lines = open("logs/access.log").read().splitlines()
print(len(lines))
`),
      ),
    ],
    right: python(String.raw`
import re
errors = sent = 0
for line in open("access.log"):
    status, size = re.search(r'" (\d{3}) (\d+|-)$', line.strip()).groups()
    errors += int(status) >= 500
    sent += 0 if size == "-" else int(size)
print(errors, sent)
`),
    answer: "18 363074",
  },
  {
    name: "parse-orders",
    topic: "parsing",
    question: "In orders.json: the sum of qty times cents over all items of customers who are vip.",
    files: ["orders.json"],
    attempts: [
      errs(
        "exception",
        "Cannot read properties of null (reading 'vip')",
        javascript(String.raw`
const orders = JSON.parse(require("node:fs").readFileSync("orders.json", "utf8"));
let cents = 0;
for (const { customer, items } of orders)
  if (customer.vip) for (const item of items) cents += item.qty * item.cents;
console.log(cents);
`),
      ),
    ],
    right: javascript(String.raw`
const orders = JSON.parse(require("node:fs").readFileSync("orders.json", "utf8"));
const items = orders.filter(({ customer }) => customer?.vip === true).flatMap((order) => order.items);
console.log(items.reduce((sum, { qty, cents }) => sum + qty * cents, 0));
`),
    answer: "127390",
  },
  {
    name: "parse-settings",
    topic: "parsing",
    question: "The sum of all whole numbers that are values in service.ini.",
    files: ["service.ini"],
    attempts: [
      errs(
        "syntax",
        "at solution.py:3",
        python(String.raw`
total = 0
for line in open("service.ini"):
    if "=" in line
        total += int(line.split("=")[1])
print(total)
`),
      ),
      errs(
        "exception",
        "invalid literal for int() with base 10: ' alpha",
        python(String.raw`
total = 0
for line in open("service.ini"):
    if "=" in line:
        total += int(line.split("=")[1])
print(total)
`),
      ),
    ],
    right: python(String.raw`
total = 0
for line in open("service.ini"):
    value = line.partition("=")[2].strip()
    total += int(value) if value.isdigit() else 0
print(total)
`),
    answer: "8798",
  },
  {
    name: "parse-events",
    topic: "parsing",
    question: "In events.jsonl: the sum of ms of kind click, and the number of lines that are no JSON. ms broken",
    files: ["events.jsonl"],
    attempts: [
      errs(
        "exception",
        "SyntaxError",
        typescript(String.raw`
import { readFileSync } from "node:fs";
interface Entry { kind: string; ms: number }
const events: Entry[] = readFileSync("events.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line));
console.log(events.filter(({ kind }) => kind === "click").reduce((sum, { ms }) => sum + ms, 0));
`),
      ),
    ],
    right: typescript(String.raw`
import { readFileSync } from "node:fs";
interface Entry { kind: string; ms: number }
let broken = 0;
let ms = 0;
for (const line of readFileSync("events.jsonl", "utf8").trim().split("\n")) {
  try {
    const event = JSON.parse(line) as Entry;
    if (event.kind === "click") ms += event.ms;
  } catch {
    broken += 1;
  }
}
console.log(ms, broken);
`),
    answer: "36779 7",
  },
  {
    name: "parse-expressions",
    topic: "parsing",
    question: "The sum of the values of the expressions in expressions.txt (numbers, + - *, brackets), without eval.",
    files: ["expressions.txt"],
    attempts: [
      errs(
        "exit",
        "exit code 3: unknown sign: (",
        python(String.raw`
import re, sys
total = 0
for line in open("expressions.txt"):
    for token in re.findall(r"\d+|\S", line):
        if token in "()":
            print("unknown sign:", token, file=sys.stderr)
            sys.exit(3)
`),
      ),
    ],
    right: python(String.raw`
import re

def value(line):
    tokens = re.findall(r"\d+|[-+*()]", line)

    def atom():
        token = tokens.pop(0)
        if token != "(":
            return int(token)
        inside = add()
        tokens.pop(0)
        return inside

    def times():
        left = atom()
        while tokens and tokens[0] == "*":
            tokens.pop(0)
            left *= atom()
        return left

    def add():
        left = times()
        while tokens and tokens[0] in "+-":
            left = left + times() if tokens.pop(0) == "+" else left - times()
        return left

    return add()

print(sum(value(line) for line in open("expressions.txt")))
`),
    answer: "20918",
  },
  {
    name: "parse-romans",
    topic: "parsing",
    question: "The sum of the Roman numbers in romans.txt.",
    files: ["romans.txt"],
    attempts: [
      errs(
        "exit",
        "exit code 4",
        javascript(String.raw`
const numbers = require("node:fs").readFileSync("romans.txt", "utf8").trim().split("\n");
console.log(numbers.length + " numbers");
if (numbers.some((number) => /IV|IX|XL|XC|CD|CM/.test(number))) process.exit(4);
`),
      ),
    ],
    right: javascript(String.raw`
const VALUES = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };
const valueOf = (roman) =>
  [...roman].reduce((sum, sign, at) => {
    const value = VALUES[sign];
    return sum + (value < (VALUES[roman[at + 1]] ?? 0) ? -value : value);
  }, 0);
const numbers = require("node:fs").readFileSync("romans.txt", "utf8").trim().split("\n");
console.log(numbers.reduce((sum, roman) => sum + valueOf(roman), 0));
`),
    answer: "70473",
  },
];
