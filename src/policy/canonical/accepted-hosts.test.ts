import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { IsolationSection } from "../document/shapes-isolation.ts";
import { loadCanonical, loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const usual: IsolationSection = { backend: "where-possible" };
const pack = "version: 1\npack: {name: p, scope: {net: {allow: [pack.example]}}}\n";
const plain = "version: 1\npack: {name: q}\n";

function load(
  text: string,
  hosts: Readonly<Record<string, readonly string[]>>,
  isolation: IsolationSection | undefined = usual,
) {
  const loader = (name: string) =>
    name === "p" ? { file: "p", text: pack } : name === "q" ? { file: "q", text: plain } : undefined;
  const servers = Object.fromEntries(
    Object.entries(hosts).map(([name, allow]) => [name, { net: { allow: [...allow] } }]),
  );
  const document = { version: 1 as const, readings: [], isolation: { servers } };
  const accepted = { file: "cards.json", locate: () => ({ line: 0, column: 0 }), document };
  return loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader, hash, accepted, isolation });
}

const netOf = (text: string, isolation?: IsolationSection, server = "s") =>
  load(text, { s: ["api.example.com", "b.example:8443"] }, isolation).policy?.isolation?.orderOf(server).scope.net;

describe("hosts that a card opened", () => {
  test("are a list of that server alone, in the canonical text, its digest and what is read from it", () => {
    const { policy } = load("", { s: ["api.example.com"] });
    const order = policy?.isolation?.orderOf("s");
    expect(order).toMatchObject({
      mode: "where-possible",
      scope: { net: { mode: "list", allow: ["api.example.com:443"] } },
    });
    expect(policy?.isolation?.orderOf("t").scope.net.mode).toBe("none");
    expect(policy?.canonical).toContain("api.example.com:443");
    expect(policy?.digest).not.toBe(load("", {}).policy?.digest);
    const again = loadCanonical(policy?.canonical ?? "", hash);
    expect(again?.isolation?.orderOf("s").digest).toBe(order?.digest);
  });

  test("keep what the section says of the server besides", () => {
    const own =
      "isolation: {backend: where-possible, servers: {s: {files: {read: [/srv/data]}}, t: {exec: {mode: none}}}}";
    const order = load(own, { s: ["a.example"] }).policy?.isolation?.orderOf("s");
    expect(order?.scope.files.read).toEqual(["/srv/data"]);
    expect(order?.scope.net.allow).toEqual(["a.example:443"]);
    expect(netOf(own, undefined, "t")?.mode).toBe("none");
    expect(netOf("servers: {s: {pack: q}}")?.mode).toBe("list");
  });

  test("take the view of the workspace with them, unless the policy says that it stays", () => {
    const servers = { s: { net: { allow: ["a.example"] }, files: { workspace: { mode: "none" as const } } } };
    const seen = (text: string) => {
      const accepted = {
        file: "cards.json",
        locate: () => ({ line: 0, column: 0 }),
        document: { version: 1 as const, isolation: { servers } },
      };
      const input = { file: "p.yaml", text: `version: 1\n${text}` };
      const { policy } = loadPolicy(input, { loader: () => undefined, hash, accepted, isolation: usual });
      return policy?.isolation?.orderOf("s").scope.files;
    };
    expect(seen("")?.workspace.mode).toBe("none");
    const own = (files: string): string => `isolation: {backend: where-possible, servers: {s: {files: {${files}}}}}`;
    expect(seen(own("read: [/srv/data]"))).toMatchObject({ read: ["/srv/data"], workspace: { mode: "none" } });
    expect(seen(own("workspace: {mode: read}"))?.workspace.mode).toBe("read");
  });

  test.each([
    ["isolation: {}", "none"],
    ["isolation: {backend: where-possible, servers: {s: {net: {mode: none}}}}", "none"],
    ["isolation: {backend: where-possible, servers: {s: {backend: learn}}}", "none"],
    ["isolation: {backend: where-possible, defaults: {net: {mode: none}}}", "none"],
    ["isolation: {backend: where-possible, allowed_domains: []}", "list"],
  ])("count for nothing where the policy says itself what it reaches: %s", (text, mode) => {
    const net = netOf(text);
    expect(net?.allow.includes("api.example.com:443")).toBe(false);
    if (mode === "list") expect(net?.allow).toEqual([]);
  });

  test("count for nothing beside a pack that names hosts, and without isolation by default", () => {
    expect(netOf("servers: {s: {pack: p}}")?.allow).toEqual(["pack.example:443"]);
    const bare = loadPolicy(
      { file: "p.yaml", text: "version: 1\n" },
      {
        loader: () => undefined,
        hash,
        accepted: {
          file: "cards.json",
          locate: () => ({ line: 0, column: 0 }),
          document: { version: 1, isolation: { servers: { s: { net: { allow: ["a.example"] } }, t: {} } } },
        },
      },
    );
    expect(bare.policy?.isolation).toBeUndefined();
  });

  test("that are no hosts leave the policy as it is", () => {
    const { policy, diagnostics } = load("", { s: ["*"] });
    expect(policy?.isolation?.orderOf("s").scope.net.mode).toBe("none");
    expect(diagnostics).toHaveLength(1);
  });
});
