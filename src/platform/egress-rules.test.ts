import { isIP } from "node:net";
import { expect, it } from "vitest";
import { hostEntry, isListed, isLoopback, reachOf, REGISTRIES } from "./egress-rules.ts";
import { proxyFor } from "./egress-upstream.ts";

it("reads names, wildcards, addresses and ports, and nothing else", () => {
  expect(hostEntry("Example.com")).toEqual({ name: "example.com", port: undefined });
  expect(hostEntry("*.example.com:8443")).toEqual({ name: "*.example.com", port: 8_443 });
  expect(hostEntry("[::1]:80")).toEqual({ name: "::1", port: 80 });
  expect(hostEntry("::1")).toEqual({ name: "::1", port: undefined });
  for (const wrong of [
    "",
    "*",
    "http://x",
    "x/y",
    "a b",
    "x:0",
    "x:70000",
    "x:",
    "*.",
    "[::1",
    "[1.2.3.4]",
    "-x",
    "a,b",
  ])
    expect(hostEntry(wrong), wrong).toBeUndefined();
});

it("means 80 and 443 without a port, and exactly that one with", () => {
  expect([80, 443, 8_080].map((port) => isListed(["example.com"], "example.com", port))).toEqual([true, true, false]);
  expect([443, 8_080].map((port) => isListed(["example.com:8080"], "example.com", port))).toEqual([false, true]);
});

it("means names below with a wildcard, not the name itself and not one that only ends so", () => {
  const listed = (host: string): boolean => isListed(["*.example.com"], host, 443);
  expect(["a.example.com", "a.b.example.com"].map(listed)).toEqual([true, true]);
  expect(["example.com", "badexample.com", ".example.com", "example.com.evil.org"].map(listed)).not.toContain(true);
});

it("takes an address that is not public only when it is on the list itself", async () => {
  expect(await reachOf(["10.0.0.5"], "10.0.0.5", 80)).toMatchObject({ is: "open" });
  expect(await reachOf(["localhost"], "localhost", 80)).toMatchObject({ is: "open" });
  expect(await reachOf(["example.com"], "10.0.0.5", 80)).toMatchObject({ is: "refused", why: "not on the list" });
  expect(await reachOf(["nowhere.invalid"], "nowhere.invalid", 80)).toEqual({ is: "refused", why: "no such name" });
});

it("refuses a listed name that leads into the user's network, in whatever form, but takes its public addresses", async () => {
  const leadsTo = (...addresses: string[]): ReturnType<typeof reachOf> =>
    reachOf(["example.com"], "example.com", 443, (host) => {
      expect(host).toBe("example.com");
      return Promise.resolve(addresses.map((address) => ({ address, family: isIP(address) })));
    });
  for (const address of [
    "10.0.0.5",
    "::ffff:10.0.0.5",
    "::ffff:a00:5",
    "127.0.0.1",
    "::1",
    "169.254.169.254",
    "fd00::5",
  ])
    expect(await leadsTo(address)).toEqual({
      is: "refused",
      why: `it leads to ${address}, which is not public and not on the list itself`,
    });
  const open = { address: "93.184.215.14", family: 4 };
  expect(await leadsTo("10.0.0.5", open.address)).toEqual({ is: "open", addresses: [open] });
  expect(await leadsTo("2606:2800:21f::1")).toMatchObject({ is: "open" });
  const own = reachOf(["box.example.com", "10.0.0.5"], "box.example.com", 443, () =>
    Promise.resolve([{ address: "10.0.0.5", family: 4 }]),
  );
  expect(await own).toMatchObject({ is: "open" });
});

it("knows this machine by its names", () => {
  expect(["localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "::1"].every(isLoopback)).toBe(true);
  expect(["localhost.com", "127.evil.org", "10.0.0.1", "notlocalhost"].some(isLoopback)).toBe(false);
});

it("lists registries as plain names", () => {
  expect(REGISTRIES.every((host) => hostEntry(host)?.port === undefined && hostEntry(host) !== undefined)).toBe(true);
});

it("finds the user's proxy as other programs do", () => {
  const to = { host: "a.example.com", port: 443 };
  const via = (env: Record<string, string>): string | undefined => proxyFor("https", to, env)?.host;
  expect(via({})).toBeUndefined();
  expect(via({ HTTPS_PROXY: "http://big:3128" })).toBe("big:3128");
  expect(via({ https_proxy: "small:1", HTTPS_PROXY: "http://big:3128" })).toBe("small:1");
  expect(via({ ALL_PROXY: "http://all:1", HTTP_PROXY: "http://plain:1" })).toBe("all:1");
  for (const except of ["*", "example.com", ".example.com", "*.example.com", "x, a.example.com:443"])
    expect(via({ HTTPS_PROXY: "http://big:3128", NO_PROXY: except }), except).toBeUndefined();
  for (const except of ["b.example.com", "ample.com", "example.com:80"])
    expect(via({ HTTPS_PROXY: "http://big:3128", NO_PROXY: except }), except).toBe("big:3128");
  expect(proxyFor("https", { host: "localhost", port: 443 }, { HTTPS_PROXY: "http://big:3128" })).toBeUndefined();
});
