/** Whom a fence's way out lets through: the list, and what a name on it may lead to. */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** Without a port of its own, an entry means these. */
const USUAL_PORTS = [80, 443];

export type Reach = { is: "open"; addresses: LookupAddress[] } | { is: "refused"; why: string };

/** All that a name leads to. */
type LookUp = (host: string) => Promise<LookupAddress[]>;
const lookUpHere: LookUp = (host) => lookup(host, { all: true });

interface Entry {
  /** In small letters, an IPv6 address without brackets. */
  name: string;
  port: number | undefined;
}

/** `example.com`, `*.example.com`, `10.0.0.5`, `[::1]`, each with or without a port; undefined: none of these. */
export function hostEntry(text: string): Entry | undefined {
  const lower = text.toLowerCase();
  if (isIP(lower) === 6) return { name: lower, port: undefined };
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(lower) ?? [];
  const name = bracketed ?? plain;
  const port = digits === undefined ? undefined : Number(digits);
  if (name === undefined || port === 0 || (port ?? 1) > 65_535) return undefined;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { name: bracketed, port } : undefined;
  return /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(name) ? { name, port } : undefined;
}

export function isListed(hosts: readonly string[], host: string, port: number): boolean {
  return hosts.some((text) => {
    const entry = hostEntry(text);
    if (entry === undefined) return false;
    const isPort = entry.port === undefined ? USUAL_PORTS.includes(port) : entry.port === port;
    const { name } = entry;
    return (
      isPort && (name.startsWith("*.") ? host.length > name.length - 1 && host.endsWith(name.slice(1)) : host === name)
    );
  });
}

/** Always this machine, by definition (RFC 6761). */
export const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  host === "::1" ||
  (isIP(host) === 4 && host.startsWith("127."));

/**
 * A name that someone else decides about must not lead into the user's network: an address that is not public counts
 * only when it is on the list itself.
 */
export async function reachOf(
  hosts: readonly string[],
  host: string,
  port: number,
  lookUp: LookUp = lookUpHere,
): Promise<Reach> {
  if (host === "") return { is: "refused", why: "no such address" };
  if (!isListed(hosts, host, port)) return { is: "refused", why: "not on the list" };
  const family = isIP(host);
  if (family !== 0) return { is: "open", addresses: [{ address: host, family }] };
  const found = await lookUp(host).catch((): LookupAddress[] => []);
  const open = found.filter(
    ({ address }) => isPublic(address) || isListed(hosts, address, port) || (isLoopback(host) && isLoopback(address)),
  );
  if (open.length > 0) return { is: "open", addresses: open };
  const [first] = found;
  if (first === undefined) return { is: "refused", why: "no such name" };
  return { is: "refused", why: `it leads to ${first.address}, which is not public and not on the list itself` };
}

// An IPv4 address in IPv6 form (::ffff:10.0.0.5) is checked against the IPv4 nets; ::ffff:0:0/96 here would hold all of IPv4.
const PRIVATE = {
  ipv4: [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3],
  ],
  ipv6: [
    ["::", 96],
    ["64:ff9b::", 32],
    ["2002::", 16],
    ["fc00::", 7],
    ["fe80::", 9],
    ["ff00::", 8],
  ],
} as const;

/** Made when somebody goes out by a name: most runs never do. */
let privateNets: BlockList | undefined;
function netsNotPublic(): BlockList {
  if (privateNets !== undefined) return privateNets;
  privateNets = new BlockList();
  for (const [net, bits] of PRIVATE.ipv4) privateNets.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of PRIVATE.ipv6) privateNets.addSubnet(net, bits, "ipv6");
  return privateNets;
}

const isPublic = (address: string): boolean => !netsNotPublic().check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** Where package managers fetch from. */
export const REGISTRIES: readonly string[] = [
  "registry.npmjs.org",
  "registry.yarnpkg.com",
  "pypi.org",
  "files.pythonhosted.org",
  "crates.io",
  "index.crates.io",
  "static.crates.io",
  "proxy.golang.org",
  "sum.golang.org",
  "repo.maven.apache.org",
  "repo1.maven.org",
  "plugins.gradle.org",
  "rubygems.org",
];
