/** Arithmetic with days. */
import { errs, javascript, python, typescript, type Problem } from "./problem.ts";

export const DATES: readonly Problem[] = [
  {
    name: "date-working-days",
    topic: "dates",
    question: "How many working days (Monday to Friday, without holidays.txt) has the year 2024?",
    files: ["holidays.txt"],
    attempts: [
      errs(
        "wrong-answer",
        "358",
        python(String.raw`
import datetime
holidays = {line.strip() for line in open("holidays.txt")}
days = (datetime.date(2025, 1, 1) - datetime.date(2024, 1, 1)).days
print(days - len(holidays))
`),
      ),
    ],
    right: python(String.raw`
import datetime
holidays = {line.strip() for line in open("holidays.txt")}
day = datetime.date(2024, 1, 1)
count = 0
while day.year == 2024:
    count += day.weekday() < 5 and day.isoformat() not in holidays
    day += datetime.timedelta(days=1)
print(count)
`),
    answer: "254",
  },
  {
    name: "date-leap-days",
    topic: "dates",
    question:
      "How many 29ths of February have the people of births.csv lived through, from their birthday on until the end of 2024, all together?",
    files: ["births.csv"],
    attempts: [
      errs(
        "exception",
        "RangeError: Invalid time value",
        javascript(String.raw`
const lines = require("node:fs").readFileSync("births.csv", "utf8").trim().split("\n");
console.log(lines.map((line) => new Date(line.split(",")[1]).toISOString()).length);
`),
      ),
    ],
    right: javascript(String.raw`
const lines = require("node:fs").readFileSync("births.csv", "utf8").trim().split("\n").slice(1);
let count = 0;
for (const line of lines) {
  const born = line.split(",")[1];
  for (let year = Number(born.slice(0, 4)); year <= 2024; year += 1) {
    const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    if (isLeap && born <= year + "-02-29") count += 1;
  }
}
console.log(count);
`),
    answer: "131",
  },
  {
    name: "date-busy-week",
    topic: "dates",
    question: "Which ISO week has the most lines in deploys.txt, the earliest if there are several? week count",
    files: ["deploys.txt"],
    attempts: [
      errs(
        "syntax",
        "SyntaxError",
        python(String.raw`
import collections, datetime
weeks = collections.Counter(datetime.datetime.fromisoformat(line.strip()[:-1]).isocalendar()[1] for line in open("deploys.txt")
print(weeks.most_common(1)
`),
      ),
    ],
    right: python(String.raw`
import collections, datetime
weeks = collections.Counter()
for line in open("deploys.txt"):
    weeks[datetime.datetime.fromisoformat(line.strip()[:-1]).isocalendar()[1]] += 1
week = min(weeks, key=lambda week: (-weeks[week], week))
print(week, weeks[week])
`),
    answer: "9 7",
  },
  {
    name: "date-longest-gap",
    topic: "dates",
    question: "The longest time between two lines of deploys.txt, in minutes.",
    files: ["deploys.txt"],
    attempts: [
      errs(
        "exit",
        "exit code 2: no deploys found",
        typescript(String.raw`
import { readFileSync } from "node:fs";
const times: string[] = readFileSync("deploys.txt", "utf8").split("\n").filter((line) => line.includes("deploy"));
if (times.length === 0) {
  console.error("no deploys found");
  process.exit(2);
}
`),
      ),
    ],
    right: typescript(String.raw`
import { readFileSync } from "node:fs";
const times: number[] = readFileSync("deploys.txt", "utf8").trim().split("\n").map((line) => Date.parse(line));
const gaps = times.slice(1).map((time, at) => (time - (times[at] as number)) / 60_000);
console.log(Math.max(...gaps));
`),
    answer: "3982",
  },
  {
    name: "date-days-lived",
    topic: "dates",
    question: "How many days have the people of births.csv lived on 1 July 2024, all together?",
    files: ["births.csv"],
    attempts: [
      errs(
        "exception",
        "Invalid isoformat string",
        python(String.raw`
import datetime
print(sum((datetime.date(2024, 7, 1) - datetime.date.fromisoformat(line.strip().split(",")[1])).days for line in open("births.csv")))
`),
      ),
    ],
    right: python(String.raw`
import csv, datetime
born = [datetime.date.fromisoformat(row["born"]) for row in csv.DictReader(open("births.csv"))]
print(sum(datetime.date(2024, 7, 1).toordinal() - day.toordinal() for day in born))
`),
    answer: "182659",
  },
];
