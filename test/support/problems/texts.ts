/** Words and letters. */
import { errs, javascript, python, shell, type Problem } from "./problem.ts";

export const TEXTS: readonly Problem[] = [
  {
    name: "text-words",
    topic: "text",
    question:
      "The three most frequent words of prose.txt, letter case and signs not counting: word count, one per line.",
    files: ["prose.txt"],
    attempts: [
      errs(
        "missing-file",
        "No such file or directory: 'book.txt'",
        python(String.raw`
import collections
print(collections.Counter(open("book.txt").read().split()).most_common(3))
`),
      ),
    ],
    right: python(String.raw`
import collections, re
words = collections.Counter(re.findall(r"[a-z]+", open("prose.txt").read().lower()))
for word, count in sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:3]:
    print(word, count)
`),
    answer: "the 79\nis 33\nwheel 21",
  },
  {
    name: "text-anagrams",
    topic: "text",
    question:
      "How many groups of two or more anagrams are in dictionary.txt, and how many words has the largest? groups largest",
    files: ["dictionary.txt"],
    attempts: [
      errs(
        "assertion",
        "AssertionError",
        javascript(String.raw`
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
const words = readFileSync("dictionary.txt", "utf8").trim().split("\n");
assert.equal(new Set(words.map((word) => word.length)).size, 2, "words of two lengths");
`),
      ),
    ],
    right: javascript(String.raw`
import { readFileSync } from "node:fs";
const words = readFileSync("dictionary.txt", "utf8").trim().split("\n");
const sizes = [...Map.groupBy(words, (word) => [...word].sort().join("")).values()].map((group) => group.length).filter((n) => n > 1);
console.log(sizes.length, Math.max(...sizes));
`),
    answer: "7 5",
  },
  {
    name: "text-palindrome",
    topic: "text",
    question:
      "The length and the first place (from 0) of the longest palindrome in strand.txt, its lines joined. length place",
    files: ["strand.txt"],
    attempts: [
      errs(
        "exception",
        "IndexError: string index out of range",
        python(String.raw`
s = open("strand.txt").read().replace("\n", "")
best = ""
for middle in range(len(s)):
    n = 0
    while s[middle - n] == s[middle + n + 1]:
        n += 1
    best = max(best, s[middle - n + 1 : middle + n + 1], key=len)
print(len(best), s.index(best))
`),
      ),
      errs(
        "wrong-answer",
        "11",
        python(String.raw`
s = open("strand.txt").read().replace("\n", "")
best = (0, 0)
for middle in range(len(s)):
    n = 0
    while middle - n >= 0 and middle + n < len(s) and s[middle - n] == s[middle + n]:
        n += 1
    best = max(best, (2 * n - 1, -(middle - n + 1)))
print(best[0], -best[1])
`),
      ),
    ],
    right: python(String.raw`
s = open("strand.txt").read().replace("\n", "")
best = (0, 0)
for middle in range(len(s)):
    for right in (middle, middle + 1):
        left = middle
        while left >= 0 and right < len(s) and s[left] == s[right]:
            left, right = left - 1, right + 1
        best = max(best, (right - left - 1, -(left + 1)))
print(best[0], -best[1])
`),
    answer: "34 500",
  },
  {
    name: "text-cipher",
    topic: "text",
    question: "cipher.txt is English with every letter moved by the same number of places. What does it say?",
    files: ["cipher.txt"],
    attempts: [errs("wrong-answer", "rfc ayraf", shell(String.raw`tr 'a-z' 'n-za-m' < cipher.txt`))],
    right: shell(String.raw`
for shift in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
  letters=abcdefghijklmnopqrstuvwxyz
  moved="${"$"}{letters:shift}${"$"}{letters:0:shift}"
  text=$(tr "$moved" "$letters" < cipher.txt)
  case " $text " in *" the "*" is "*) echo "$text" ;; esac
done
`),
    answer: "the catch that stops a wheel from slipping back is called a pawl and it only lets the work go forward",
  },
];
