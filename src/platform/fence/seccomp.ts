/**
 * System calls that nothing inside a fence needs and that would weaken it: new namespaces, mounts, kernel modules, keys,
 * sockets that no namespace holds back. As a classic BPF program, which bubblewrap loads.
 */
import { endianness } from "node:os";

interface Arch {
  audit: number;
  clone: number;
  socket: number;
  refused: readonly number[];
}

/**
 * mount, namespace, module, key, clock and raw-access calls; the newest have one number everywhere. Tracing stays: leak
 * checkers need it, and only processes of the same fence can be seen.
 */
const NEWEST = [428, 429, 430, 431, 432, 433, 438, 442];
const ARCHES: Readonly<Record<string, Arch>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
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
const ABSENT = [CLONE3, 425, 426, 427];
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
const ARGUMENT_0_AT = 16;

type Step = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

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
    // clone: only without new namespaces.
    [JUMP_EQUAL, 0, 4, known.clone],
    [LOAD, 0, 0, ARGUMENT_0_AT],
    [JUMP_SET, 0, 1, CLONE_NEW_ANY],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
    // socket: only families that the network namespace holds.
    [JUMP_EQUAL, 0, FAMILIES.length + 2, known.socket],
    [LOAD, 0, 0, ARGUMENT_0_AT],
    ...FAMILIES.map((family, at): Step => [JUMP_EQUAL, FAMILIES.length - at, 0, family]),
    [RETURN, 0, 0, EPERM],
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
