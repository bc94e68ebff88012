/**
 * System calls that nothing inside a fence needs and that would weaken it: new namespaces, mounts, kernel modules, keys,
 * sockets that no namespace holds back, files that would run as their owner (outside that is the user, or root). As a
 * classic BPF program, which bubblewrap loads.
 */
import { endianness } from "node:os";

interface Arch {
  audit: number;
  clone: number;
  socket: number;
  ioctl: number;
  /** Calls that take a file's mode, and as which argument; with `flags`, only when these say that a file is made. */
  modes: readonly { call: number; mode: number; flags?: number }[];
  refused: readonly number[];
}

/**
 * mount, namespace, module, key, clock and raw-access calls; the newest have one number everywhere. Tracing stays: leak
 * checkers need it, and only processes of the same fence can be seen.
 */
const NEWEST = [428, 429, 430, 431, 432, 433, 438, 442, 443, 467];
const ARCHES: Readonly<Record<string, Arch>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
    ioctl: 16,
    modes: [
      { call: 90, mode: 1 },
      { call: 91, mode: 1 },
      { call: 268, mode: 2 },
      { call: 452, mode: 2 },
      { call: 85, mode: 1 },
      { call: 133, mode: 1 },
      { call: 259, mode: 2 },
      { call: 2, mode: 2, flags: 1 },
      { call: 257, mode: 3, flags: 2 },
    ],
    refused: [
      103,
      154,
      155,
      159,
      161,
      163,
      164,
      165,
      166,
      167,
      168,
      169,
      172,
      173,
      175,
      176,
      179,
      180,
      212,
      227,
      246,
      248,
      249,
      250,
      272,
      298,
      303,
      304,
      305,
      308,
      312,
      313,
      320,
      321,
      323,
      ...NEWEST,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    socket: 198,
    ioctl: 29,
    modes: [
      { call: 52, mode: 1 },
      { call: 53, mode: 2 },
      { call: 452, mode: 2 },
      { call: 33, mode: 2 },
      { call: 56, mode: 3, flags: 2 },
    ],
    refused: [
      116,
      41,
      171,
      51,
      89,
      170,
      40,
      39,
      224,
      225,
      142,
      105,
      106,
      60,
      112,
      104,
      217,
      218,
      219,
      97,
      241,
      264,
      265,
      266,
      268,
      272,
      273,
      294,
      280,
      282,
      ...NEWEST,
    ],
  },
};
/** Answered as if the kernel did not have them, so that programs take the older way. */
const CLONE3 = 435;
const IO_URING = [425, 426, 427];
/** Its mode is behind a pointer, which a filter cannot follow. */
const OPENAT2 = 437;
const ABSENT = [CLONE3, OPENAT2, ...IO_URING];
/** Set-user-id and set-group-id. */
const RUNS_AS_OWNER = 0o6000;
const MAKES_FILE = 0o100 | 0o20000000;
/** Typing into a terminal, and the console's own. */
const IOCTLS = [0x5412, 0x541c];
/** Unix, IPv4, IPv6, netlink: all but netlink's own are held by the network namespace; vsock and others are not. */
const FAMILIES = [1, 2, 10, 16];
const CLONE_NEW_ANY = 0x7e020000;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_SET = 0x45;
const JUMP_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const X32_BIT = 0x40000000;
/** Offsets in struct seccomp_data; arguments are 64 bit wide. */
const NUMBER_AT = 0;
const ARCH_AT = 4;
const argumentAt = (n: number): number => 16 + 8 * n;

type Step = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/** `body` for one call; it returns in every case. */
const when = (call: number, body: readonly Step[]): Step[] => [[JUMP_EQUAL, 0, body.length, call], ...body];

const refuseBits = (at: number, bits: number): Step[] => [
  [LOAD, 0, 0, at],
  [JUMP_SET, 0, 1, bits],
  [RETURN, 0, 0, EPERM],
];

/** Lets the call pass unless one of the bits is set. */
const onlyWithBits = (at: number, bits: number): Step[] => [
  [LOAD, 0, 0, at],
  [JUMP_SET, 1, 0, bits],
  [RETURN, 0, 0, ALLOW],
];

/** undefined on a machine it was not written for. */
export function seccompFilter(arch: string = process.arch): Buffer | undefined {
  const known = ARCHES[arch];
  if (known === undefined || endianness() !== "LE") return undefined;
  const refuse = (number: number, answer: number): Step[] => [
    [JUMP_EQUAL, 0, 1, number],
    [RETURN, 0, 0, answer],
  ];
  const steps: Step[] = [
    [LOAD, 0, 0, ARCH_AT],
    [JUMP_EQUAL, 1, 0, known.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    [JUMP_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, EPERM],
    ...known.refused.flatMap((number) => refuse(number, EPERM)),
    ...ABSENT.flatMap((number) => refuse(number, ENOSYS)),
    // Only without new namespaces.
    ...when(known.clone, [...refuseBits(argumentAt(0), CLONE_NEW_ANY), [RETURN, 0, 0, ALLOW]]),
    // Only families that the network namespace holds.
    ...when(known.socket, [
      [LOAD, 0, 0, argumentAt(0)],
      ...FAMILIES.map((family, at): Step => [JUMP_EQUAL, FAMILIES.length - at, 0, family]),
      [RETURN, 0, 0, EPERM],
      [RETURN, 0, 0, ALLOW],
    ]),
    ...when(known.ioctl, [
      [LOAD, 0, 0, argumentAt(1)],
      ...IOCTLS.flatMap((request) => refuse(request, EPERM)),
      [RETURN, 0, 0, ALLOW],
    ]),
    ...known.modes.flatMap(({ call, mode, flags }) =>
      when(call, [
        ...(flags === undefined ? [] : onlyWithBits(argumentAt(flags), MAKES_FILE)),
        ...refuseBits(argumentAt(mode), RUNS_AS_OWNER),
        [RETURN, 0, 0, ALLOW],
      ]),
    ),
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(steps.length * 8);
  for (const [at, [code, jumpTrue, jumpFalse, value]] of steps.entries()) {
    program.writeUInt16LE(code, at * 8);
    program.writeUInt8(jumpTrue, at * 8 + 2);
    program.writeUInt8(jumpFalse, at * 8 + 3);
    program.writeUInt32LE(value >>> 0, at * 8 + 4);
  }
  return program;
}
