/** The best of very many. */
import { errs, javascript, python, typescript, type Problem } from "./problem.ts";

export const OPTIMISATION: readonly Problem[] = [
  {
    name: "best-knapsack",
    topic: "optimisation",
    question: "The greatest value of items in items.csv whose weights are at most 150 in all.",
    files: ["items.csv"],
    attempts: [
      errs(
        "timeout",
        "it did not end within",
        python(String.raw`
import csv, itertools
items = [(int(row["weight"]), int(row["value"])) for row in csv.DictReader(open("items.csv"))]
best = 0
for picks in itertools.product([0, 1], repeat=len(items)):
    weight = sum(w for p, (w, v) in zip(picks, items) if p)
    if weight <= 150:
        best = max(best, sum(v for p, (w, v) in zip(picks, items) if p))
print(best)
`),
      ),
    ],
    right: python(String.raw`
import csv
best = [0] * 151
for row in csv.DictReader(open("items.csv")):
    weight, value = int(row["weight"]), int(row["value"])
    for room in range(150, weight - 1, -1):
        best[room] = max(best[room], best[room - weight] + value)
print(best[150])
`),
    answer: "840",
  },
  {
    name: "best-assignment",
    topic: "optimisation",
    question:
      "costs.txt has the cost of each worker (line) for each job (column). The least cost of giving every worker one job.",
    files: ["costs.txt"],
    attempts: [
      errs(
        "timeout",
        "it did not end within",
        javascript(String.raw`
const costs = require("node:fs").readFileSync("costs.txt", "utf8").trim().split("\n").map((line) => line.split(" ").map(Number));
let best = Infinity;
while (best > 148) {
  const jobs = costs.map((_, at) => at).sort(() => Math.random() - 0.5);
  best = Math.min(best, costs.reduce((sum, row, at) => sum + row[jobs[at]], 0));
}
console.log(best);
`),
      ),
    ],
    right: javascript(String.raw`
const costs = require("node:fs").readFileSync("costs.txt", "utf8").trim().split("\n").map((line) => line.split(" ").map(Number));
const n = costs.length;
const best = new Array(1 << n).fill(Infinity);
best[0] = 0;
for (let taken = 0; taken < 1 << n; taken += 1) {
  const worker = taken.toString(2).replaceAll("0", "").length;
  for (let job = 0; job < n && worker < n; job += 1) {
    if (taken & (1 << job)) continue;
    const next = taken | (1 << job);
    best[next] = Math.min(best[next], best[taken] + costs[worker][job]);
  }
}
console.log(best[(1 << n) - 1]);
`),
    answer: "149",
  },
  {
    name: "best-of-curve",
    topic: "optimisation",
    question:
      "curve.txt has the coefficients of a polynomial, highest power first. Its least value between -10 and 10, two decimals.",
    files: ["curve.txt"],
    attempts: [
      errs(
        "wrong-answer",
        "-25.60",
        python(String.raw`
c = [float(word) for word in open("curve.txt").read().split()]
f = lambda x: sum(k * x ** (len(c) - 1 - n) for n, k in enumerate(c))
x, step = -1.0, 0.01
while abs(step) > 1e-9:
    if f(x + step) < f(x):
        x += step
    elif f(x - step) < f(x):
        x -= step
    else:
        step /= 2
print(f"{f(x):.2f}")
`),
      ),
    ],
    right: python(String.raw`
c = [float(word) for word in open("curve.txt").read().split()]
f = lambda x: sum(k * x ** (len(c) - 1 - n) for n, k in enumerate(c))
x = min((n / 1000 for n in range(-10_000, 10_001)), key=f)
step = 0.001
while step > 1e-9:
    x = min((x - step, x, x + step), key=f)
    step /= 1.5
print(f"{f(x):.2f}")
`),
    answer: "-85.75",
  },
  {
    name: "ways-of-change",
    topic: "optimisation",
    question: "In how many ways can 500 be paid with the coins in coins.txt, the order not counting?",
    files: ["coins.txt"],
    attempts: [
      errs(
        "memory",
        "it used more than",
        typescript(String.raw`
import { readFileSync } from "node:fs";
const coins: number[] = readFileSync("coins.txt", "utf8").trim().split(" ").map(Number);
let ways: number[][] = [[]];
for (let n = 0; n < 500; n += 1) ways = ways.flatMap((way) => coins.map((coin) => [...way, coin]));
console.log(ways.length);
`),
      ),
    ],
    right: typescript(String.raw`
import { readFileSync } from "node:fs";
const coins: number[] = readFileSync("coins.txt", "utf8").trim().split(" ").map(Number);
const ways: number[] = [1, ...new Array<number>(500).fill(0)];
for (const coin of coins) for (let sum = coin; sum <= 500; sum += 1) ways[sum]! += ways[sum - coin]!;
console.log(ways[500]);
`),
    answer: "6295434",
  },
];
