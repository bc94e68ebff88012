/**
 * Where a script of Node's ends. Node ends well as soon as nothing is left to wait for, though a promise that the script
 * waits for was never settled and a callback never called: only what stands behind all of that is its end. Pure.
 */
import { Script } from "node:vm";
import { plainCode } from "./plain-code.ts";

/** They call what they are given before they return. */
const AT_ONCE = new Set(
  (
    "forEach map filter some every find findIndex findLast findLastIndex flatMap reduce reduceRight sort toSorted " +
    "replace replaceAll from fromEntries throws doesNotThrow group groupBy then catch finally all allSettled race any"
  ).split(" "),
);
const CHAINED = new Set(["then", "catch", "finally"]);
const TIMERS = /\b(setTimeout|setInterval|setImmediate|queueMicrotask|nextTick)\s*\(/g;
const PROMISES = /\bnew\s+Promise\b|\.\s*(?:then|catch|finally)\s*\(/g;
const FUNCTIONS = /=>|\bfunction\b/g;
const DECLARED = /\b(?:function\s*\*?|const|let|var|class)\s+([\w$]+)/g;
const ASYNC_NAMES = /\basync\s+function\s*\*?\s*([\w$]+)|([\w$]+)\s*=\s*async\b|\basync\s+([\w$]+)\s*\(/g;
const IS_ASYNC = /\b(?:async|await|Promise)\b|\.\s*(?:then|catch|finally)\s*\(/;
/** It is handed on to whoever waits, or waited for. */
const WAITED = /(?:\bawait|\breturn|\byield|=>)\s*(?:new\s+)?$/;
/** Begins a statement that is no call, or is waited for. */
const NO_CALL =
  /^(?:await|async|import|export|const|let|var|function|class|if|else|for|while|do|switch|try|return|throw)(?![\w$])/;
/** A line that goes on in the next one. */
const GOES_ON = /(?:[=+\-*/%&|^<>?:,([{.!~]|\b(?:return|typeof|await|new|in|of))$/;

/** The text with `fails` where it has come to its end; undefined where that cannot be told. */
export function atNodeEnd(text: string, fails: string): string | undefined {
  const code = plainCode(text);
  const from = IS_ASYNC.test(code) ? lastCall(code) : undefined;
  if (!isAwaited(code, from ?? code.length)) return undefined;
  if (from === undefined) return `${text.trimEnd()}\n;${fails}\n`;
  const { length } = code.trimEnd().replace(/[;\s]+$/, "");
  const waited = text.slice(from, length);
  return isExpression(waited)
    ? `${text.slice(0, from)};Promise.resolve(${waited}\n).then(()=>{${fails}});\n`
    : undefined;
}

/** The last statement of all, where that is a call that nobody waits for. */
function lastCall(code: string): number | undefined {
  const lines = code.trimEnd().split("\n");
  for (let nth = lines.length - 1; nth >= 0; nth -= 1) {
    const line = lines[nth] ?? "";
    // The rest is inside of something, closes it, or is a part of a chain.
    if (!/^[\w$(]/.test(line)) continue;
    if (NO_CALL.test(line)) return undefined;
    const before = lines.slice(0, nth).findLast((one) => one.trim() !== "");
    if (before !== undefined && GOES_ON.test(before.trimEnd())) continue;
    return lines.slice(0, nth).join("\n").length + (nth === 0 ? 0 : 1);
  }
  return undefined;
}

/** One expression by itself, in JavaScript or with plain types. */
function isExpression(text: string): boolean {
  const untyped = text.replaceAll(/\(([\w$]+)\s*:\s*[\w$]+\)/g, "($1)");
  try {
    void new Script(`async () => (${untyped}\n)`);
    return true;
  } catch {
    return false;
  }
}

/** All that the script begins it waits for, or hands to its last call. */
function isAwaited(code: string, last: number): boolean {
  const declared = new Set([...code.matchAll(DECLARED)].map(([, name = ""]) => name));
  const asyncs = [...code.matchAll(ASYNC_NAMES)].map(([, one, two, three]) => one ?? two ?? three ?? "");
  const isLast = (at: number): boolean => at >= last && depthAt(code, last, at) === 0;
  const starts = (pattern: RegExp): number[] => [...code.matchAll(pattern)].map(({ index }) => index);
  const calls = asyncs
    .filter((name) => name !== "" && name !== "function")
    .flatMap((name) =>
      starts(new RegExp(`(?<![\\w$])(?<!function\\s*\\*?\\s*)(?<!async\\s+)${escaped(name)}\\s*\\(`, "g")),
    );
  const immediate = starts(/\(\s*async\b/g).filter((at) => calleeAt(code, at) === "");
  const promises = [...calls, ...immediate, ...starts(PROMISES)];
  return (
    promises.every((at) => isLast(at) || isWaitedFor(code, at)) &&
    starts(TIMERS).every((at) => isWaitedFor(code, at) || isInPromise(code, at)) &&
    starts(FUNCTIONS).every((at) => isLast(at) || isCalledAtOnce(code, at, declared)) &&
    starts(/[(,]\s*async\b/g).every((at) => isAsyncWaitedFor(code, at)) &&
    [...declared].every((name) => !isHandedAway(code, name, declared))
  );
}

const escaped = (name: string): string => name.replaceAll("$", "\\$");

function depthAt(code: string, from: number, to: number): number {
  let depth = 0;
  for (const char of code.slice(from, to)) depth += "([{".includes(char) ? 1 : ")]}".includes(char) ? -1 : 0;
  // Within the arguments of the last call, one of a chain is as good as another.
  return /^\s*\(\s*async\b/.test(code.slice(from)) && depth === 1 ? 0 : depth;
}

/** Where the bracket opens that a place stands in, or -1. */
function opening(code: string, at: number): number {
  let depth = 0;
  for (let back = at - 1; back >= 0; back -= 1) {
    const char = code[back] ?? "";
    if (")]}".includes(char)) depth += 1;
    else if ("([{".includes(char) && (depth -= 1) < 0) return back;
  }
  return -1;
}

/** Where the chain of names and calls begins that a place ends: `a.b(c).d`. */
function chainStart(code: string, at: number): number {
  let back = at;
  for (;;) {
    const before = code.slice(0, back).trimEnd();
    const char = before.at(-1) ?? "";
    const isNamed =
      /[\w$.?]/.test(char) && !/(?:^|[^\w$.])(?:await|return|yield|new|typeof|case|else|do|in|of)$/.test(before);
    if (isNamed) back = before.length - 1;
    else if (char === ")" || char === "]") back = Math.max(0, opening(code, before.length - 1));
    else return back;
  }
}

/** What is called with the bracket at a place: its last name, "" where there is none. */
const calleeAt = (code: string, bracket: number): string => /([\w$]+)\s*$/.exec(code.slice(0, bracket))?.[1] ?? "";
const isCall = (code: string, bracket: number): boolean =>
  code[bracket] === "(" && !/^(?:if|for|while|switch|catch|function|)$/.test(calleeAt(code, bracket));

/** By `await` or `return` before it, or before what it is an argument of. */
function isWaitedFor(code: string, at: number): boolean {
  const start = chainStart(code, at);
  if (WAITED.test(code.slice(0, start))) return true;
  const bracket = opening(code, start);
  return bracket >= 0 && code[bracket] !== "{" && isWaitedFor(code, bracket);
}

/** In a function that makes a promise; that one has to be waited for itself. */
function isInPromise(code: string, at: number): boolean {
  const bracket = opening(code, at);
  if (bracket < 0) return false;
  return (isCall(code, bracket) && calleeAt(code, bracket) === "Promise") || isInPromise(code, bracket);
}

/** Where the function is given to a call: one that calls it before it returns, of the script's own, or waited for. */
function isCalledAtOnce(code: string, at: number, declared: ReadonlySet<string>): boolean {
  const bracket = argumentsOf(code, at);
  if (bracket === undefined) return true;
  const start = chainStart(code, bracket);
  const [, first = ""] = /^\s*([\w$]+)/.exec(code.slice(start, bracket)) ?? [];
  const isOwn = declared.has(first) && first === calleeAt(code, bracket);
  return AT_ONCE.has(calleeAt(code, bracket)) || isOwn || isWaitedFor(code, bracket) || isInPromise(code, at);
}

/** Who calls an async function has to wait for it. */
function isAsyncWaitedFor(code: string, at: number): boolean {
  const bracket = code[at] === "(" ? at : opening(code, at);
  if (bracket < 0 || !isCall(code, bracket)) return true;
  return CHAINED.has(calleeAt(code, bracket)) || isWaitedFor(code, bracket) || isInPromise(code, at);
}

/** The bracket of the call that a function is an argument of. */
function argumentsOf(code: string, at: number): number | undefined {
  const isArrow = code.startsWith("=>", at);
  const before = isArrow ? code.slice(0, at).trimEnd() : undefined;
  // The parameters of an arrow have brackets of their own.
  const from = before === undefined ? at : before.endsWith(")") ? opening(code, before.length - 1) : before.length;
  const bracket = opening(code, from);
  return bracket >= 0 && isCall(code, bracket) ? bracket : undefined;
}

/** A function of the script's own by its name, given to a call that may keep it for later. */
function isHandedAway(code: string, name: string, declared: ReadonlySet<string>): boolean {
  const isFunction = new RegExp(
    `function\\s*\\*?\\s*${escaped(name)}\\b|\\b${escaped(name)}\\s*=\\s*(?:async\\b\\s*)?(?:function\\b|\\([^()]*\\)\\s*=>|[\\w$]+\\s*=>)`,
  );
  if (!isFunction.test(code)) return false;
  const given = [...code.matchAll(new RegExp(`[(,]\\s*(${escaped(name)})\\s*(?=[,)])`, "g"))];
  return given.some(({ 0: whole, index }) => {
    const at = index + whole.length - name.length;
    const bracket = opening(code, at);
    return bracket >= 0 && isCall(code, bracket) && !isCalledAtOnce(code, at, declared);
  });
}
