/** Pictures, written by hand: no library for them is there. */
import { errs, javascript, python, type Problem } from "./problem.ts";

const PYTHON_PNG = String.raw`
import struct, zlib

def save(path, rows):
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", data) + part(b"IEND", b""))
`;

export const PLOTS: readonly Problem[] = [
  {
    name: "plot-bars",
    topic: "plot",
    question:
      "Draw visits.csv as bars.png, 240 x 120 pixels: black bars on white, 15 pixels wide every 20, one pixel high per visit. Print the number of black pixels.",
    files: ["visits.csv"],
    attempts: [
      errs(
        "exception",
        "No module named 'easyplots'",
        python(String.raw`
import csv
import easyplots
easyplots.bar([int(row["visits"]) for row in csv.DictReader(open("visits.csv"))]).save("bars.png")
`),
      ),
    ],
    right: python(String.raw`
import csv
${PYTHON_PNG}
rows = [[255] * 240 for _ in range(120)]
for n, row in enumerate(csv.DictReader(open("visits.csv"))):
    for y in range(int(row["visits"])):
        for x in range(15):
            rows[119 - y][20 * n + x] = 0
save("bars.png", rows)
print(sum(row.count(0) for row in rows))
`),
    answer: "8775",
    picture: { path: "bars.png", width: 240, height: 120 },
  },
  {
    name: "plot-line",
    topic: "plot",
    question:
      "Draw the 80 values of signal.txt as line.png, 160 x 100 pixels, each value (0 to 100) two black pixels wide and one high at its rounded-down height. Print the number of black pixels.",
    files: ["signal.txt"],
    attempts: [
      errs(
        "disk",
        "it wrote more than 4 MB",
        javascript(String.raw`
const { appendFileSync, readFileSync } = require("node:fs");
for (const value of readFileSync("signal.txt", "utf8").trim().split("\n"))
  appendFileSync("frames.raw", Buffer.alloc(160 * 100 * 16, Number(value)));
console.log("done");
`),
      ),
    ],
    right: javascript(String.raw`
const { readFileSync, writeFileSync } = require("node:fs");
const { crc32, deflateSync } = require("node:zlib");
const [width, height] = [160, 100];
const rows = Array.from({ length: height }, () => Buffer.alloc(width + 1, 255).fill(0, 0, 1));
readFileSync("signal.txt", "utf8").trim().split("\n").forEach((value, at) => {
  rows[height - 1 - Math.floor(Number(value))].fill(0, 1 + 2 * at, 3 + 2 * at);
});
function part(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}
const head = Buffer.alloc(13);
head.writeUInt32BE(width, 0);
head.writeUInt32BE(height, 4);
head[8] = 8;
const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
const data = deflateSync(Buffer.concat(rows));
writeFileSync("line.png", Buffer.concat([start, part("IHDR", head), part("IDAT", data), part("IEND", Buffer.alloc(0))]));
console.log(rows.reduce((sum, row) => sum + row.subarray(1).filter((byte) => byte === 0).length, 0));
`),
    answer: "160",
    picture: { path: "line.png", width: 160, height: 100 },
  },
  {
    name: "plot-histogram",
    topic: "plot",
    question:
      "Count units in sales.csv in six bins (1-5, 6-10, ... 26-30), draw them as histogram.png, 60 x 60 pixels, bars 10 wide, and print the six counts with blanks between.",
    files: ["sales.csv"],
    attempts: [
      errs(
        "assertion",
        "AssertionError: 7 bins",
        python(String.raw`
import csv
bins = {}
for row in csv.DictReader(open("sales.csv")):
    bins[int(row["units"]) // 5] = bins.get(int(row["units"]) // 5, 0) + 1
assert len(bins) == 6, f"{len(bins)} bins"
`),
      ),
    ],
    right: python(String.raw`
import csv
${PYTHON_PNG}
bins = [0] * 6
for row in csv.DictReader(open("sales.csv")):
    bins[(int(row["units"]) - 1) // 5] += 1
save("histogram.png", [[0 if bins[x // 10] > 59 - y else 255 for x in range(60)] for y in range(60)])
print(*bins)
`),
    answer: "22 18 18 21 22 19",
    picture: { path: "histogram.png", width: 60, height: 60 },
  },
];
