/** Who a process is inside: someone the system's own list of users has a name for, which many programs insist on. */
import { readFileSync } from "node:fs";

export interface Identity {
  uid: number;
  gid: number;
}

/** Everywhere `nobody`; also what files of everyone else seem to belong to inside. */
const NOBODY: Identity = { uid: 65_534, gid: 65_534 };
/** People, in every usual system. */
const FIRST_PERSON = 1_000;

/** The user; for root, whose number must not be seen inside, anyone on the list. Outside it is another in any case. */
export function innerIdentity(passwd: () => string = usersOfSystem): Identity {
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()];
  return uid === 0 ? (firstPerson(passwd()) ?? NOBODY) : { uid, gid };
}

/** The one with the lowest number. */
export function firstPerson(passwd: string): Identity | undefined {
  return passwd
    .split("\n")
    .map((line) => line.split(":"))
    .map(([, , uid = "", gid = ""]) => ({ uid: Number(uid || Number.NaN), gid: Number(gid || Number.NaN) }))
    .filter(({ uid, gid }) => uid >= FIRST_PERSON && uid < NOBODY.uid && gid >= FIRST_PERSON)
    .toSorted((a, b) => a.uid - b.uid)[0];
}

function usersOfSystem(): string {
  try {
    return readFileSync("/etc/passwd", "utf8");
  } catch {
    return "";
  }
}
