/** Statistics over tables. */
import { errs, javascript, python, shell, typescript, type Problem } from "./problem.ts";

export const CSV: readonly Problem[] = [
  {
    name: "csv-revenue",
    topic: "csv",
    question: "What is the total revenue in sales.csv (units times price)? Two decimals.",
    files: ["sales.csv"],
    attempts: [
      errs(
        "exception",
        "KeyError: 'unit_price'",
        python(String.raw`
import csv
total = 0
for row in csv.DictReader(open("sales.csv")):
    total += int(row["units"]) * float(row["unit_price"])
print(f"{total:.2f}")
`),
      ),
    ],
    right: python(String.raw`
import csv
from decimal import Decimal
total = sum((int(row["units"]) * Decimal(row["price"]) for row in csv.DictReader(open("sales.csv"))), Decimal(0))
print(f"{total:.2f}")
`),
    answer: "93465.22",
  },
  {
    name: "csv-median",
    topic: "csv",
    question:
      "The median of units per region in sales.csv, one line per region in alphabetical order: region=median with one decimal.",
    files: ["sales.csv"],
    attempts: [
      errs(
        "wrong-answer",
        "east=",
        python(String.raw`
import csv, collections
units = collections.defaultdict(list)
for row in csv.DictReader(open("sales.csv")):
    units[row["region"]].append(int(row["units"]))
for region in sorted(units):
    print(f"{region}={sum(units[region]) / len(units[region]):.1f}")
`),
      ),
    ],
    right: python(String.raw`
import csv, collections
units = collections.defaultdict(list)
for row in csv.DictReader(open("sales.csv")):
    units[row["region"]].append(int(row["units"]))
for region in sorted(units):
    values = sorted(units[region])
    middle = len(values) // 2
    median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    print(f"{region}={median:.1f}")
`),
    answer: "east=19.0\nnorth=14.0\nsouth=13.0\nwest=16.0",
  },
  {
    name: "csv-missing-values",
    topic: "csv",
    question:
      "Which station in temperatures.csv is the warmest on average, leaving out missing values? station mean, two decimals.",
    files: ["temperatures.csv"],
    attempts: [
      errs(
        "exception",
        "could not convert string to float: 'NA'",
        python(String.raw`
import csv, collections
sums = collections.defaultdict(lambda: [0.0, 0])
for row in csv.DictReader(open("temperatures.csv")):
    sums[row["station"]][0] += float(row["celsius"])
    sums[row["station"]][1] += 1
print(max((s / n, name) for name, (s, n) in sums.items()))
`),
      ),
    ],
    right: python(String.raw`
import csv, collections
sums = collections.defaultdict(lambda: [0.0, 0])
for row in csv.DictReader(open("temperatures.csv")):
    if row["celsius"] != "NA":
        sums[row["station"]][0] += float(row["celsius"])
        sums[row["station"]][1] += 1
mean, name = max((s / n, name) for name, (s, n) in sums.items())
print(f"{name} {mean:.2f}")
`),
    answer: "hill 11.79",
  },
  {
    name: "csv-deviation",
    topic: "csv",
    question: "The sample standard deviation of units in sales.csv, three decimals.",
    files: ["sales.csv"],
    attempts: [
      errs(
        "syntax",
        "SyntaxError",
        javascript(String.raw`
const { readFileSync } = require("node:fs");
const units = readFileSync("sales.csv", "utf8").trim().split("\n").slice(1).map((line) => Number(line.split(",")[3]);
console.log(units.length);
`),
      ),
    ],
    right: javascript(String.raw`
const { readFileSync } = require("node:fs");
const units = readFileSync("sales.csv", "utf8").trim().split("\n").slice(1).map((line) => Number(line.split(",")[3]));
const mean = units.reduce((a, b) => a + b, 0) / units.length;
const square = units.reduce((sum, unit) => sum + (unit - mean) ** 2, 0);
console.log(Math.sqrt(square / (units.length - 1)).toFixed(3));
`),
    answer: "8.633",
  },
  {
    name: "csv-quoted",
    topic: "csv",
    question: "The sum of score over the rows of survey.csv whose city is exactly: Graz, West",
    files: ["survey.csv"],
    attempts: [
      errs(
        "wrong-answer",
        "0",
        javascript(String.raw`
const { readFileSync } = require("node:fs");
const rows = readFileSync("survey.csv", "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
console.log(rows.filter((row) => row[1] === "Graz, West").reduce((sum, row) => sum + Number(row[3]), 0));
`),
      ),
    ],
    right: javascript(String.raw`
const { readFileSync } = require("node:fs");
function fields(line) {
  const found = [];
  let field = "";
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const c = line[at];
    if (quoted && c === '"' && line[at + 1] === '"') { field += '"'; at += 1; }
    else if (c === '"') quoted = !quoted;
    else if (c === "," && !quoted) { found.push(field); field = ""; }
    else field += c;
  }
  return [...found, field];
}
const rows = readFileSync("survey.csv", "utf8").trim().split("\n").slice(1).map(fields);
console.log(rows.filter((row) => row[1] === "Graz, West").reduce((sum, row) => sum + Number(row[3]), 0));
`),
    answer: "48",
  },
  {
    name: "csv-top-products",
    topic: "csv",
    question: "The two products of sales.csv with most units in all: product units, one per line, most first.",
    files: ["sales.csv"],
    attempts: [
      errs(
        "missing-file",
        "sale.csv",
        shell(String.raw`
set -e
tail -n +2 sale.csv > rows.txt
awk -F, '{ n[$3] += $4 } END { for (p in n) print p, n[p] }' rows.txt
`),
      ),
    ],
    right: shell(String.raw`
set -e
tail -n +2 sales.csv | awk -F, '{ n[$3] += $4 } END { for (p in n) print p, n[p] }' | sort -k2,2nr | head -2
`),
    answer: "chair 492\nlamp 431",
  },
  {
    name: "csv-correlation",
    topic: "csv",
    question: "The correlation of height and weight in heights.csv, four decimals.",
    files: ["heights.csv"],
    attempts: [
      errs(
        "assertion",
        "AssertionError: 50 rows",
        python(String.raw`
import csv
rows = list(csv.DictReader(open("heights.csv")))
assert len(rows) == 51, f"{len(rows)} rows"
`),
      ),
    ],
    right: python(String.raw`
import csv, math
rows = list(csv.DictReader(open("heights.csv")))
x = [float(row["height_cm"]) for row in rows]
y = [float(row["weight_kg"]) for row in rows]
mx, my = sum(x) / len(x), sum(y) / len(y)
up = sum((a - mx) * (b - my) for a, b in zip(x, y))
down = math.sqrt(sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))
print(f"{up / down:.4f}")
`),
    answer: "0.5796",
  },
  {
    name: "csv-join",
    topic: "csv",
    question:
      "Cents spent per country: purchases.csv joined with customers.csv by customer id; purchases of unknown customers are left out. country=cents, alphabetical.",
    files: ["customers.csv", "purchases.csv"],
    attempts: [
      errs(
        "exception",
        "Cannot read properties of undefined (reading 'country')",
        typescript(String.raw`
import { readFileSync } from "node:fs";
const table = (name: string): string[][] => readFileSync(name, "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
const known = new Map(table("customers.csv").map(([id, name, country]) => [id, { name, country }]));
const spent: Record<string, number> = {};
for (const [id, cents] of table("purchases.csv")) {
  const country = known.get(id)!.country as string;
  spent[country] = (spent[country] ?? 0) + Number(cents);
}
console.log(spent);
`),
      ),
    ],
    right: typescript(String.raw`
import { readFileSync } from "node:fs";
const table = (name: string): string[][] => readFileSync(name, "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
const countryOf = new Map<string, string>(table("customers.csv").map(([id, , country]) => [id as string, country as string]));
const spent = new Map<string, number>();
for (const [id = "", cents] of table("purchases.csv")) {
  const country = countryOf.get(id);
  if (country !== undefined) spent.set(country, (spent.get(country) ?? 0) + Number(cents));
}
for (const country of [...spent.keys()].sort()) console.log(country + "=" + spent.get(country));
`),
    answer: "AT=169742\nCH=176962\nDE=24379\nFR=170708",
  },
];
