/** Chance with a seed: the same everywhere. */
import { errs, javascript, python, type Problem } from "./problem.ts";

const LCG = "The generator: x becomes (1103515245 * x + 12345) modulo 2^31, and each new x is used.";

export const SIMULATION: readonly Problem[] = [
  {
    name: "simulate-circle",
    topic: "simulation",
    question: `${LCG} From x = 42, draw 20000 points (x / 2^31 of two draws). How many lie within 1 of the origin, the edge not counted?`,
    files: [],
    attempts: [
      errs(
        "output",
        "it printed more than 256 KB",
        python(String.raw`
x, inside = 42, 0
for n in range(20000):
    x = (1103515245 * x + 12345) % 2**31
    a = x / 2**31
    x = (1103515245 * x + 12345) % 2**31
    b = x / 2**31
    inside += a * a + b * b < 1
    print("point", n, a, b, "inside so far", inside)
print(inside)
`),
      ),
    ],
    right: python(String.raw`
def draws(x):
    while True:
        x = (1103515245 * x + 12345) % 2**31
        yield x / 2**31

draw = draws(42)
print(sum(next(draw) ** 2 + next(draw) ** 2 < 1 for _ in range(20000)))
`),
    answer: "15716",
  },
  {
    name: "simulate-walk",
    topic: "simulation",
    question: `${LCG} A walk begins at 0 with x = 7; each of 10000 draws goes up by one if x is 2^30 or more, else down. Where does it end, what were its highest and its lowest place? end highest lowest`,
    files: [],
    attempts: [
      errs(
        "wrong-answer",
        " ",
        javascript(String.raw`
let [x, at, high, low] = [7, 0, 0, 0];
for (let n = 0; n < 10_000; n += 1) {
  x = (1103515245 * x + 12345) % 2 ** 31;
  at += x >= 2 ** 30 ? 1 : -1;
  high = Math.max(high, at);
  low = Math.min(low, at);
}
console.log(at, high, low);
`),
      ),
    ],
    right: javascript(String.raw`
let [x, at, high, low] = [7n, 0, 0, 0];
for (let n = 0; n < 10_000; n += 1) {
  x = (1103515245n * x + 12345n) % 2n ** 31n;
  at += x >= 2n ** 30n ? 1 : -1;
  high = Math.max(high, at);
  low = Math.min(low, at);
}
console.log(at, high, low);
`),
    answer: "-90 18 -132",
  },
  {
    name: "simulate-life",
    topic: "simulation",
    question:
      "Conway's game of life on the board life.txt (# lives), whose edges meet: how many live after 50 generations?",
    files: ["life.txt"],
    attempts: [
      errs(
        "exception",
        "Cannot read properties of undefined",
        javascript(String.raw`
const board = require("node:fs").readFileSync("life.txt", "utf8").trim().split("\n");
const around = (y, x) => {
  let count = 0;
  for (const a of [-1, 0, 1]) for (const b of [-1, 0, 1]) if ((a !== 0 || b !== 0) && board[y + a][x + b] === "#") count += 1;
  return count;
};
console.log(board.map((row, y) => [...row].map((_, x) => around(y, x))).length);
`),
      ),
    ],
    right: javascript(String.raw`
let board = require("node:fs").readFileSync("life.txt", "utf8").trim().split("\n").map((line) => [...line].map((c) => c === "#"));
const [height, width] = [board.length, board[0].length];
for (let n = 0; n < 50; n += 1)
  board = board.map((row, y) =>
    row.map((lives, x) => {
      let count = 0;
      for (const a of [-1, 0, 1])
        for (const b of [-1, 0, 1])
          if ((a !== 0 || b !== 0) && board[(y + a + height) % height][(x + b + width) % width]) count += 1;
      return count === 3 || (lives && count === 2);
    }),
  );
console.log(board.flat().filter(Boolean).length);
`),
    answer: "14",
  },
  {
    name: "simulate-queue",
    topic: "simulation",
    question: `${LCG} From x = 99, 500 customers: each arrives 1 + x mod 10 minutes after the one before (from minute 0) and then is served for 1 + x mod 9 minutes by the one clerk, in turn. All their waiting together, and the longest? all longest`,
    files: [],
    attempts: [
      errs(
        "disk",
        "it wrote more than 4 MB",
        python(String.raw`
log = open("simulation.log", "w")
minute = 0
while True:
    minute += 1
    log.write(f"minute {minute}: nobody came\n" * 100)
`),
      ),
    ],
    right: python(String.raw`
x = 99

def draw():
    global x
    x = (1103515245 * x + 12345) % 2**31
    return x

now = free = total = longest = 0
for _ in range(500):
    now += 1 + draw() % 10
    wait = max(0, free - now)
    total, longest = total + wait, max(longest, wait)
    free = now + wait + 1 + draw() % 9
print(total, longest)
`),
    answer: "7815 59",
  },
];
