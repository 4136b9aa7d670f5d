import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { loadPolicy } from "../load.ts";
import { importToolhiveProfile } from "./toolhive-import.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const reasons = (profile: Json): readonly string[] =>
  importToolhiveProfile(profile).left.map(({ list, entry, reason }) => `${list} ${entry}: ${reason}`);

test("what a profile allows becomes the scope of a server", () => {
  const profile: Json = {
    name: "github",
    read: ["/data/in/"],
    write: ["/data/out"],
    network: { outbound: { allow_host: ["api.github.com", ".example.com"], allow_port: [443, 8443] } },
  };
  expect(importToolhiveProfile(profile)).toEqual({
    document: {
      version: 1,
      extends: ["default"],
      isolation: {
        servers: {
          github: {
            files: { read: ["/data/in"], write: ["/data/out"], workspace: { mode: "none" } },
            net: {
              mode: "list",
              allow: [
                "api.github.com:443",
                "api.github.com:8443",
                "example.com:443",
                "example.com:8443",
                "*.example.com:443",
                "*.example.com:8443",
              ],
            },
          },
        },
      },
    },
    imported: 8,
    left: [],
  });
});

test("a profile that says nothing opens nothing", () => {
  for (const profile of [
    {},
    null,
    [],
    { network: { mode: "none", outbound: { allow_host: ["a.example"] } } },
  ] as const) {
    const { document, imported, left } = importToolhiveProfile(profile);
    expect({ document, imported, left }).toMatchObject({
      document: { isolation: { servers: { server: { net: { mode: "none" } } } } },
      imported: 0,
      left: [],
    });
  }
  const open = importToolhiveProfile({ network: { outbound: { insecure_allow_all: true } } });
  expect(open.document.isolation?.servers?.["server"]?.net).toEqual({ mode: "open" });
});

test.each<readonly [Json, string]>([
  [{ read: ["/a:/b"] }, "read /a:/b: it is mounted at another place"],
  [{ read: ["volume://x:/y"] }, "read volume://x:/y: it is mounted"],
  [{ read: ["data"] }, "read data: it is not an absolute path"],
  [{ write: ["/etc"] }, "write /etc: it would open all of `/etc`"],
  [{ write: ["~/.ssh"] }, "write ~/.ssh: it gives the server keys to other machines"],
  [{ read: [5] }, "read 5: it is not a text"],
  [{ write: "/data" }, "write /data: it is not a list"],
  [{ privileged: true }, "privileged true: no projection"],
  [{ network: { mode: "host" } }, "network.mode host: "],
  [{ network: { inbound: { allow_host: ["x"] } } }, 'network.inbound {"allow_host":["x"]}: '],
  [{ network: { outbound: { allow_port: [80] } } }, "network.outbound.allow_port [80]: ports without hosts"],
  [{ network: { outbound: { allow_port: [0], allow_host: [] } } }, "network.outbound.allow_port 0: it is not a port"],
  [{ network: { outbound: { allow_host: ["a.example"] } } }, "network.outbound.allow_host a.example: it names no port"],
  [{ network: { outbound: { allow_host: [7], allow_port: [1] } } }, "network.outbound.allow_host 7: it is not a text"],
  [{ network: { outbound: { allow_host: ["*.com"], allow_port: [1] } } }, "allow_host *.com:1: it would open hosts"],
  [{ network: { outbound: { allow_host: ["169.254.169.254"], allow_port: [80] } } }, "it gives the server keys of"],
  [{ network: { outbound: { allow_host: ["::"], allow_port: [80] } } }, "it would open every address"],
  [{ read: Array.from({ length: 300 }, (_, index) => `/data/${index}`) }, "read 300: only the first 256"],
])("%j leaves out %s", (profile, reason) => {
  const [first, ...others] = reasons(profile);
  expect(others).toEqual([]);
  expect(first).toContain(reason);
});

test("whatever a profile holds, what comes of it loads", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("/", "~", "/data", "/data:/x", ".example.com", "*.com", "a.example"),
  );
  const profiles = fc.record(
    {
      name: text,
      read: fc.array(text),
      write: fc.array(text),
      network: fc.record({
        mode: fc.constantFrom("bridge", "host", "none"),
        outbound: fc.record(
          { allow_host: fc.array(text), allow_port: fc.array(fc.integer()), insecure_allow_all: fc.boolean() },
          { requiredKeys: [] },
        ),
      }),
    },
    { requiredKeys: [] },
  );
  const loader = () => ({ file: "default", document: { version: 1 } }) as const;
  fc.assert(
    fc.property(profiles, (profile) => {
      const { document } = importToolhiveProfile(profile as Json); // made of strings, numbers and flags
      expect(loadPolicy({ file: "p.json", document }, { loader, hash }).diagnostics).toEqual([]);
    }),
    runs,
  );
});
