/** Escapes by files: writing, linking, reading and leaving things behind. */
import { existsSync, lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, isEmpty, textOf, type Escape } from "./escape.ts";

const RUNS_AS_OWNER = 0o6000;
const USR_CANARY = "/usr/pawl-red-team-canary";

export const WRITING: readonly Escape[] = [
  { name: "write by an absolute path", script: 'echo bad > "$OUT/new"; echo bad >> "$OUT/canary"', works: 1 },
  {
    name: "write by ..",
    script: 'cd "$WORK" && echo bad > ../out/new; echo bad >> ../out/canary',
    works: 1,
  },
  {
    name: "write through a symbolic link",
    script:
      'ln -s "$OUT" "$WORK/way"; echo bad > "$WORK/way/new"; echo bad >> "$WORK/way/canary"; ln -s "$OUT/canary" "$WORK/file"; echo bad >> "$WORK/file"',
    works: 1,
  },
  {
    name: "hard link to a file outside",
    script: 'ln "$OUT/canary" "$WORK/hard"; echo bad >> "$WORK/hard"; cp -l "$OUT/canary" "$WORK/hard2"',
    works: 2,
    wrong: ({ out }) => (statSync(join(out, "canary")).nlink > 1 ? "it has another name" : undefined),
  },
  {
    name: "through /proc/…/root and cwd",
    script:
      'for p in /proc/self/root /proc/1/root /proc/$PPID/root /proc/thread-self/root /proc/self/cwd/../../../../..; do echo bad > "$p$OUT/new"; cat "$p$OUT/secret" >> "$LOOT"; done',
  },
  {
    name: "through descriptors that were left open",
    script:
      'for n in /proc/self/fd/* /proc/1/fd/* /proc/$PPID/fd/*; do case "$n" in */[012]) ;; *) cat "$n/secret" "$n/../out/secret" >> "$LOOT"; echo bad > "$n/new";; esac; done',
  },
  {
    name: "by the numbers of such descriptors",
    script: `python3 - <<'P'
import os
for fd in range(3, 300):
    try:
        made = os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=fd); os.write(made, b"bad")
    except OSError: pass
    try:
        open(os.environ["LOOT"], "ab").write(os.read(os.open("secret", 0, dir_fd=fd), 999))
    except OSError: pass
P`,
  },
  { name: "rm -rf of everything outside", script: 'rm -rf "$OUT" "$STATE" "$USER_HOME"' },
  { name: "move a file out of its place", script: 'mv "$OUT/canary" "$WORK/"; mv "$STATE/journal.db" "$WORK/"' },
  {
    name: "change mode and times of a file outside",
    script: 'chmod 777 "$OUT/canary"; touch -d 1999-01-01 "$OUT/canary"',
  },
  {
    name: "write to the system",
    script: `echo bad > ${USR_CANARY}; echo bad > /etc/pawl-red-team-canary; echo bad > /pawl-red-team-canary; echo bad > /dev/pawl-red-team-canary`,
    wrong: () => [USR_CANARY, "/etc/pawl-red-team-canary", "/pawl-red-team-canary"].find((path) => existsSync(path)),
  },
  {
    name: "files that run as their owner",
    script: `cd "$WORK"; cp /bin/sh a; chmod 4755 a; chmod u+s,g+s a; install -m 6755 /bin/sh b; python3 - <<'P'
import os, ctypes
os.umask(0)
for make in (lambda: os.open("c", os.O_CREAT | os.O_WRONLY, 0o4755), lambda: os.mknod("d", 0o104755), lambda: os.fchmod(os.open("a", 0), 0o4755), lambda: os.chmod("a", 0o2755), lambda: ctypes.CDLL(None).syscall(452, -100, b"a", 0o4755, 0), lambda: ctypes.CDLL(None).syscall(437, -100, b"e", ctypes.create_string_buffer((0o101).to_bytes(8, "little") + (0o4755).to_bytes(8, "little") + bytes(8)), 24)):
    try: make()
    except OSError: pass
P`,
    wrong: ({ work }) => filesBelow(work).find((path) => (lstatSync(path).mode & RUNS_AS_OWNER) !== 0),
  },
  {
    name: "a device of one's own",
    script: 'cd "$WORK"; mknod disk b 254 0; mknod mem c 1 1; head -c 16 disk mem >> "$LOOT"',
    wrong: ({ work }) => (["disk", "mem"].some((name) => existsSync(join(work, name))) ? "it was made" : undefined),
  },
  {
    name: "programs planted in the PATH under the names of the fence's own",
    script: `mkdir -p "$WORK/bin"; for name in bwrap prlimit socat nsenter sh mkfifo git cp perl env node; do printf '#!/bin/sh\\necho bad > "%s/planted"\\necho bad > %s\\n' "$OUT" ${USR_CANARY} > "$WORK/bin/$name"; chmod +x "$WORK/bin/$name"; done`,
    wrong: () => (existsSync(USR_CANARY) ? "it ran outside" : undefined),
  },
];

const reading = (name: string, files: string): Escape => ({
  name,
  script: `cat ${files} >> "$LOOT"; cp -r ${files} "$WORK/"`,
  works: 3,
});

export const READING: readonly Escape[] = [
  reading("read the user's home", '"$USER_HOME/.ssh/id_canary" "$USER_HOME/.netrc" "$USER_HOME/.config/gh/hosts.yml"'),
  reading("read the journal and another run's home", '"$STATE/journal.db" "$STATE/runs/other/agents/main/notes"'),
  {
    name: "read by .. and by links",
    script: 'cat "$WORK/../out/secret" >> "$LOOT"; ln -s "$OUT/secret" "$WORK/s"; cat "$WORK/s" >> "$LOOT"',
    works: 1,
  },
  {
    name: "look for it everywhere",
    script:
      'find / \\( -path /proc -o -path /usr -o -name node_modules -o -name .pyenv -o -name .cargo -o -name .rustup \\) -prune -o -name \'*canary*\' -exec cat {} + >> "$LOOT"; find /home /root /tmp /var /mnt /srv /media /sys -maxdepth 6 -name node_modules -prune -o -name .pyenv -prune -o -name .cargo -prune -o -name .rustup -prune -o -print > "$WORK/listing"',
    wrong: ({ work }) => (/id_canary|journal\.db/.test(textOf(join(work, "listing"))) ? "it is listed" : undefined),
  },
  {
    name: "read environments",
    script:
      'env >> "$LOOT"; cat /proc/*/environ >> "$LOOT"; cat /proc/$DRIVER_PID/environ /proc/$PPID/environ /proc/$CANARY_PID/environ >> "$LOOT"; cat /proc/*/task/*/environ >> "$LOOT"; ps auxeww >> "$LOOT"',
  },
  {
    name: "read command lines, maps and memory of others",
    script:
      'for pid in $DRIVER_PID $CANARY_PID; do cat /proc/$pid/cmdline /proc/$pid/maps /proc/$pid/mem /proc/$pid/stack >> "$WORK/others"; done',
    wrong: ({ work }) => (isEmpty(join(work, "others")) ? undefined : "something was read"),
  },
  {
    name: "read passwords, host keys and kernel memory",
    script:
      'for f in /etc/shadow /etc/gshadow /etc/ssh/ssh_host_*_key /proc/kcore /dev/mem /dev/kmsg /dev/vda /dev/sda; do head -c 64 "$f" >> "$WORK/kept"; done; dmesg >> "$WORK/kept"',
    wrong: ({ work }) => (isEmpty(join(work, "kept")) ? undefined : "something was read"),
  },
];
