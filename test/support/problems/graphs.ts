/** Ways through mazes, roads and tasks. */
import { errs, javascript, python, typescript, type Problem } from "./problem.ts";

export const GRAPHS: readonly Problem[] = [
  {
    name: "graph-maze",
    topic: "graph",
    question: "The least number of steps from S to E in maze.txt; # is a wall, steps go up, down, left, right.",
    files: ["maze.txt"],
    attempts: [
      errs(
        "memory",
        "it used more than",
        python(String.raw`
maze = "".join(line.strip() for line in open("maze.txt"))
cells = len(maze)
reached = [[False] * cells**2 for _ in range(cells)]
print(len(reached))
`),
      ),
    ],
    right: python(String.raw`
import collections
maze = [line.strip() for line in open("maze.txt")]
start = next((y, row.index("S")) for y, row in enumerate(maze) if "S" in row)
steps = {start: 0}
queue = collections.deque([start])
while queue:
    y, x = queue.popleft()
    if maze[y][x] == "E":
        print(steps[y, x])
        break
    for place in ((y, x + 1), (y + 1, x), (y, x - 1), (y - 1, x)):
        if maze[place[0]][place[1]] != "#" and place not in steps:
            steps[place] = steps[y, x] + 1
            queue.append(place)
`),
    answer: "54",
  },
  {
    name: "graph-roads",
    topic: "graph",
    question: "The shortest way in km from aa to ee in roads.csv; every road leads both ways.",
    files: ["roads.csv"],
    attempts: [
      errs(
        "wrong-answer",
        "400",
        javascript(String.raw`
const roads = require("node:fs").readFileSync("roads.csv", "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
const far = new Map([["aa", 0]]);
const queue = ["aa"];
for (const place of queue)
  for (const [a, b, km] of roads)
    for (const [from, to] of [[a, b], [b, a]])
      if (from === place && !far.has(to)) { far.set(to, far.get(place) + Number(km)); queue.push(to); }
console.log(far.get("ee"));
`),
      ),
    ],
    right: javascript(String.raw`
const roads = require("node:fs").readFileSync("roads.csv", "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
const far = new Map([["aa", 0]]);
const done = new Set();
for (;;) {
  const next = [...far].filter(([place]) => !done.has(place)).sort((a, b) => a[1] - b[1])[0];
  if (next === undefined || next[0] === "ee") break;
  done.add(next[0]);
  for (const [a, b, km] of roads)
    for (const [from, to] of [[a, b], [b, a]])
      if (from === next[0]) far.set(to, Math.min(far.get(to) ?? Infinity, next[1] + Number(km)));
}
console.log(far.get("ee"));
`),
    answer: "221",
  },
  {
    name: "graph-tasks",
    topic: "graph",
    question: "tasks.txt: name days: what it needs. The least number of days for all, any number at the same time.",
    files: ["tasks.txt"],
    attempts: [
      errs(
        "killed",
        "ended by SIGKILL",
        python(String.raw`
import os, signal
tasks = {line.split()[0]: line for line in open("tasks.txt")}
print(len(tasks), "tasks")
os.kill(os.getpid(), signal.SIGKILL)
`),
      ),
    ],
    right: python(String.raw`
import functools
tasks = {}
for line in open("tasks.txt"):
    head, needs = line.split(":")
    name, days = head.split()
    tasks[name] = int(days), needs.split()

@functools.cache
def end(name):
    days, needs = tasks[name]
    return days + max((end(need) for need in needs), default=0)

print(max(map(end, tasks)))
`),
    answer: "51",
  },
  {
    name: "graph-circles",
    topic: "graph",
    question:
      "People 1 to 60; friends.txt names pairs of friends. How many circles of friends are there (also of one), and how large is the largest? circles largest",
    files: ["friends.txt"],
    attempts: [
      errs(
        "killed",
        "ended by SIGTERM",
        typescript(String.raw`
const people: number[] = Array.from({ length: 60 }, (_, at) => at + 1);
console.log(people.length);
process.kill(process.pid, "SIGTERM");
setInterval(() => undefined, 1000);
`),
      ),
    ],
    right: typescript(String.raw`
import { readFileSync } from "node:fs";
const circle = new Map<number, number>(Array.from({ length: 60 }, (_, at) => [at + 1, at + 1]));
const find = (one: number): number => (circle.get(one) === one ? one : find(circle.get(one) as number));
for (const line of readFileSync("friends.txt", "utf8").trim().split("\n")) {
  const [a = 0, b = 0] = line.split(" ").map(Number);
  circle.set(find(a), find(b));
}
const sizes = new Map<number, number>();
for (const one of circle.keys()) sizes.set(find(one), (sizes.get(find(one)) ?? 0) + 1);
console.log(sizes.size, Math.max(...sizes.values()));
`),
    answer: "17 36",
  },
  {
    name: "graph-first-tasks",
    topic: "graph",
    question: "How many of the tasks in tasks.txt (name days: what it needs) does no other task need?",
    files: ["tasks.txt"],
    attempts: [
      errs(
        "output",
        "it printed more than",
        python(String.raw`
tasks = dict(line.strip().split(":") for line in open("tasks.txt"))
todo = list(tasks)
while todo:
    name = todo.pop(0)
    print("looking at", name, tasks[name])
    todo.append(name)
`),
      ),
    ],
    right: python(String.raw`
needed = set()
names = []
for line in open("tasks.txt"):
    head, needs = line.split(":")
    names.append(head.split()[0])
    needed.update(needs.split())
print(sum(name not in needed for name in names))
`),
    answer: "10",
  },
];
