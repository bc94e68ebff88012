/** Escapes by the kernel: namespaces, mounts, other processes, calls that nobody inside needs. */
import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Escape } from "./escape.ts";

const HOST = hostname();
const claim = (command: string, words: string): string => `${command} && echo ${words} >> "$WORK/claims"`;
const all = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([words, command]) => claim(command, `'${words}'`))
    .join("; ");

/** Each harmless should it be let through: null pointers, wrong sizes, the value that is there already. */
const CALLS = `python3 - <<'P'
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() != "x86_64": raise SystemExit
zero = ctypes.create_string_buffer(256)
calls = {"io_uring_setup": (425, 4, zero), "add_key": (248, b"user", b"canary", b"x", 1, -2), "keyctl": (250, 0, -3, 0), "bpf": (321, 5, zero, 0),
 "perf_event_open": (298, zero, 0, -1, -1, 0), "userfaultfd": (323, 1), "clock_settime": (227, 0, 0), "settimeofday": (164, 0, 0), "init_module": (175, zero, 0, b""),
 "kexec_load": (246, 0, 0, 0, 0), "reboot": (169, 0, 0, 0, 0), "swapon": (167, b"/canary", 0), "open_by_handle_at": (304, -100, zero, 0), "pivot_root": (155, b"/tmp", b"/tmp"),
 "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0), "umount": (166, b"/proc", 2), "unshare": (272, 0x10000000), "setns": (308, 0, 0), "clone3": (435, zero, 88), "open_tree": (428, -100, b"/", 1),
 "fsopen": (430, b"tmpfs", 0), "mount_setattr": (442, -100, b"/", 0, zero, 32), "pidfd_getfd": (438, 0, 0, 0), "quotactl_fd": (443, 0, 0, 0, 0), "acct": (163, 0), "syslog": (103, 10, 0, 0), "chroot": (161, b"/tmp"), "x32": (0x40000000 + 39,), "vhangup": (153,), "sethostname": (170, b"pwned", 5)}
for name, (number, *given) in calls.items():
    ctypes.set_errno(0)
    answer = libc.syscall(number, *given)
    if answer >= 0 or ctypes.get_errno() not in (1, 38): open(os.environ["WORK"] + "/claims", "a").write("%s answered %d, errno %d\\n" % (name, answer, ctypes.get_errno()))
P`;
const OTHERS = `python3 - <<'P'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (int(os.environ["CANARY_PID"]), int(os.environ["DRIVER_PID"])):
    if pid != int(os.environ["DRIVER_PID"]) and libc.ptrace(16, pid, 0, 0) == 0: open(os.environ["WORK"] + "/claims", "a").write("attached to %d\\n" % pid)
    buffer = ctypes.create_string_buffer(4096)
    class Vector(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
    near = Vector(ctypes.cast(buffer, ctypes.c_void_p).value, 4096); far = Vector(0x400000, 4096)
    if libc.process_vm_readv(pid, ctypes.byref(near), 1, ctypes.byref(far), 1, 0) > 0: open(os.environ["WORK"] + "/claims", "a").write("read memory of %d\\n" % pid)
    try: os.pidfd_open(pid); open(os.environ["WORK"] + "/claims", "a").write("held %d\\n" % pid)
    except OSError: pass
P`;

export const KERNEL: readonly Escape[] = [
  {
    name: "mount and remount",
    script: all({
      "mounted a tmpfs": "mount -t tmpfs x /tmp",
      "mounted proc": 'mkdir -p "$WORK/p" && mount -t proc x "$WORK/p"',
      "remounted /": "mount -o remount,bind,rw /",
      "remounted /usr": "mount -o remount,bind,rw /usr",
      "bound /": 'mount --bind / "$WORK/p"',
      unmounted: "umount -l /proc",
    }),
  },
  {
    name: "chroot and pivot_root",
    script: all({
      chrooted: 'chroot "$WORK" /bin/true',
      "chrooted to /": "chroot / /bin/true",
      pivoted: "pivot_root /tmp /tmp",
    }),
  },
  {
    name: "new namespaces",
    script: all({
      "a user namespace": "unshare -Ur true",
      "a mount namespace": "unshare -m true",
      "a network namespace": "unshare -n true",
      "a process namespace": "unshare -pf true",
      "a fence of its own": "bwrap --ro-bind / / true",
      "a clone with one":
        'python3 -c "import ctypes, sys; sys.exit(0 if ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0) > 0 else 1)"',
    }),
  },
  {
    name: "other namespaces",
    script:
      'for pid in 1 $PPID $DRIVER_PID $CANARY_PID; do for kind in mount:mnt user:user net:net pid:pid; do nsenter --${kind%:*}=/proc/$pid/ns/${kind#*:} true && echo "entered ${kind%:*} of $pid" >> "$WORK/claims"; done; done',
  },
  { name: "calls that nobody inside needs", script: CALLS },
  { name: "ptrace, memory and handles of other processes", script: OTHERS },
  {
    name: "signals to a canary and to the driver",
    script:
      'kill -9 "$CANARY_PID"; kill -CONT "$DRIVER_PID"; kill -9 -"$CANARY_PID"; python3 -c "import os; os.kill(int(os.environ[\'CANARY_PID\']), 9)"',
    works: 2,
  },
  {
    name: "pkill by name",
    script:
      'mine=$(ls /proc | grep -c "^[0-9]"); if [ "$mine" -lt 40 ]; then pkill -9 sleep; pkill -CONT node; killall -9 sleep; fi',
  },
  {
    name: "kernel settings",
    script:
      'for f in kernel/core_pattern kernel/hostname kernel/yama/ptrace_scope vm/overcommit_memory kernel/unprivileged_userns_clone net/ipv4/ip_forward user/max_user_namespaces; do old=$(cat /proc/sys/$f); echo "$old" > /proc/sys/$f && [ "$f" != net/ipv4/ip_forward ] && [ -n "$old" ] && echo "wrote $f" >> "$WORK/claims"; done; echo h > /proc/sysrq-trigger && echo sysrq >> "$WORK/claims"',
  },
  {
    name: "another host name",
    script: claim("hostname pwned", "renamed"),
    wrong: () => (hostname() === HOST ? undefined : "the host has another name"),
  },
  {
    name: "control groups",
    script: `${all({ "mounted them": 'mkdir -p "$WORK/g" && mount -t cgroup2 x "$WORK/g"', "mounted the old ones": 'mount -t cgroup -o memory x "$WORK/g"' })}; for g in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do [ -w "$g" ] && echo "can write $g" >> "$WORK/claims"; done`,
  },
  {
    name: "set-user-id programs of the system",
    script:
      '[ "$(su root -c "id -u" < /dev/null)" = 0 ] && echo su >> "$WORK/claims"; command -v sudo && [ "$(sudo -n id -u)" = 0 ] && echo sudo >> "$WORK/claims"; grep -q "NoNewPrivs:.1" /proc/self/status || echo "new rights" >> "$WORK/claims"; grep -E "Cap(Eff|Prm|Bnd|Amb)" /proc/self/status | grep -qv "0000000000000000" && echo capabilities >> "$WORK/claims"',
  },
  {
    name: "more than one's share",
    script:
      all({
        "a better nice": "nice -n -10 true && [ $(nice -n -10 nice) -lt 0 ]",
        "real time": "chrt -f 1 true",
        "no limit on processes": "prlimit --nproc=100000:100000 true",
        "no limit on files": "prlimit --fsize=unlimited:unlimited true",
      }) + '; echo -900 > /proc/self/oom_score_adj && echo "spared by the kernel" >> "$WORK/claims"',
  },
  {
    name: "typing into a terminal",
    // Also into one that it has itself: whoever shares a terminal with others shall not be able to.
    script: `cat > "$WORK/type.py" <<'P'
import fcntl, os
for path in ("/dev/tty", "/dev/stdin", "/dev/pts/0", "/dev/console"):
    try: fcntl.ioctl(os.open(path, os.O_RDWR), 0x5412, b"x"); open(os.environ["WORK"] + "/claims", "a").write("typed into " + path + "\\n")
    except OSError as e: print(path, e)
P
python3 "$WORK/type.py"; script -qec 'python3 "$WORK/type.py"' /dev/null </dev/null`,
  },
  {
    name: "children in sessions of their own",
    script:
      "(setsid sh -c 'exec sleep 3141' &) ; setsid -f sleep 3141; (trap '' TERM HUP; sleep 3141) & python3 -c \"import os; os.fork() or (os.setsid(), os.fork() or os.execvp('sleep', ['sleep', '3141']))\"; sleep 0.2",
    wrong: () => (isRunning("sleep\x003141\0") ? "one is alive" : undefined),
  },
  {
    name: "kill -9 -1",
    script:
      'case "$(tr "\\0" " " < /proc/1/cmdline)" in *bwrap*) ;; *) exit 1 ;; esac; own=$(readlink /proc/self/ns/pid); for p in /proc/[0-9]*; do [ -e "$p/ns/pid" ] && [ "$(readlink "$p/ns/pid")" != "$own" ] && exit 1; done; [ -d "/proc/$CANARY_PID" ] && [ "$(tr "\\0" " " < /proc/$CANARY_PID/cmdline)" = "sleep 9999 " ] && exit 1; [ "$(ls /proc | grep -c "^[0-9]")" -lt 60 ] && kill -9 -1',
  },
];

function isRunning(line: string): boolean {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1") === line;
      } catch {
        return false;
      }
    });
}
