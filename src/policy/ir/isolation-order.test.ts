/** The section `isolation` from text to orders: defaults, layers, the paper's keys, refusals, and what a digest tells. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type { PolicyLoader } from "../canonical/extends.ts";
import { policy, scope } from "../builder.ts";
import { loadCanonical, loadPolicy } from "../load.ts";
import { isolationOrder } from "./isolation-order.ts";
import { isolationSections, shuffled } from "../../../test/kit/isolation/isolation-sections.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

function load(text: string, others: Readonly<Record<string, string>> = {}) {
  const loader: PolicyLoader = (name) => {
    const other = others[name];
    return other === undefined ? undefined : { file: name, text: `version: 1\n${other}` };
  };
  return loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader, hash });
}

function orderOf(text: string, server = "s", others: Readonly<Record<string, string>> = {}): IsolationOrder {
  const loaded = load(text, others);
  const order = loaded.policy === undefined ? undefined : isolationOrder(loaded.policy, server);
  if (order === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return order;
}

const codes = (text: string): readonly string[] =>
  load(text).diagnostics.map(({ code, severity, line }) => `${severity} ${code.slice("SG-POLICY-".length)} ${line}`);

test("a policy that says nothing of isolation orders nothing", () => {
  const { policy: compiled } = load("mode: enforce");
  expect(compiled !== undefined && isolationOrder(compiled, "s")).toBeUndefined();
});

test("a policy that says nothing gets the section of the loader, which its canonical text has from then on", () => {
  const options = { loader: () => undefined, hash, isolation: { backend: "where-possible" } as const };
  const read = (text: string) => loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, options).policy;
  const silent = read("mode: enforce");
  expect(silent && isolationOrder(silent, "s")).toMatchObject({ mode: "where-possible", require: "none" });
  const again = loadCanonical(silent?.canonical ?? "", hash);
  expect(again?.digest).toBe(silent?.digest);
  expect(again && isolationOrder(again, "s")?.digest).toBe(silent && isolationOrder(silent, "s")?.digest);
  // What it says itself stands.
  const own = read("isolation: {servers: {t: {backend: learn}}}");
  expect(["s", "t"].map((server) => own && isolationOrder(own, server)?.mode)).toEqual(["auto", "learn"]);
});

test("a section without a word gives every server the built-in scope", () => {
  const { digest, ...order } = orderOf("isolation: {}");
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(order).toEqual({
    server: "s",
    mode: "auto",
    require: "none",
    scope: {
      files: {
        read: [],
        write: [],
        deny: [],
        workspace: { mode: "overlay", commit: "allow", per: "call", quotaMb: 512 },
      },
      net: { mode: "none", allow: [], callBytesMax: 33_554_432, serverBytesMax: 1_073_741_824 },
      exec: { mode: "any", programs: [] },
      environment: { pass: [], set: {} },
      sockets: [],
      limits: {
        memoryMb: 1_024,
        processes: 128,
        openFiles: 1_024,
        cpuSeconds: 3_600,
        fileMb: 256,
        callTimeoutMs: 120_000,
      },
      trace: "full",
      serial: false,
      onViolation: "reject",
      tools: new Map(),
    },
  });
});

describe("layers", () => {
  const pack =
    "pack: {name: p, scope: {net: {allow: [p.example:443]}, limits: {memoryMb: 2048, processes: 64}}}\nlabels: {}";
  const base = `servers: {s: {pack: p}}
isolation: {defaults: {limits: {memoryMb: 512, fileMb: 9}, files: {deny: [/a]}}, servers: {s: {limits: {processes: 32}, files: {deny: [/b]}}}}`;

  test("nearest wins by key, lists are replaced, and `deny` adds up", () => {
    const { scope: found } = orderOf(base, "s", { p: pack });
    expect(found.limits).toMatchObject({ memoryMb: 2_048, fileMb: 9, processes: 32, openFiles: 1_024 });
    expect(found.net).toMatchObject({ mode: "list", allow: ["p.example:443"] });
    expect(found.files.deny).toEqual(["/a", "/b"]);
    expect(orderOf(base, "other", { p: pack }).scope).toMatchObject({
      limits: { memoryMb: 512 },
      net: { mode: "none" },
    });
    const own = base.replace("limits: {processes: 32}", "net: {allow: [q.example]}");
    expect(orderOf(own, "s", { p: pack }).scope.net.allow).toEqual(["q.example:443"]);
  });

  test("a server that shuts its network loses what its pack allows, tools included", () => {
    const toolPack =
      "pack: {name: p, scope: {net: {allow: [a.example]}, tools: {t: {allow: [b.example]}}}}\nlabels: {}";
    const shut = orderOf("servers: {s: {pack: p}}\nisolation: {servers: {s: {net: {mode: none}}}}", "s", {
      p: toolPack,
    });
    expect(shut.scope.net).toMatchObject({ mode: "none", allow: [] });
    expect(shut.scope.tools.get("t")).toEqual({ read: [], write: [], allow: [], programs: [] });
    const open = orderOf("servers: {s: {pack: p}}\nisolation: {}", "s", { p: toolPack });
    expect(open.scope.tools.get("t")?.allow).toEqual(["b.example:443"]);
  });

  test("a later file replaces what it names and keeps the rest, in the paper's words too", () => {
    const from =
      "isolation: {trace: none, callTimeoutMs: 5, servers: {s: {serial: true, tools: {t: {read: [/a]}}}, x: {}}}";
    const text =
      "extends: [b]\nisolation: {trace_mode: auto, servers: {s: {tools: {t: {write: [/b]}, u: {programs: [git]}}}}}";
    const { scope: found } = orderOf(text, "s", { b: from });
    expect(found).toMatchObject({ trace: "full", serial: true, limits: { callTimeoutMs: 5 } });
    expect([...found.tools]).toEqual([
      ["t", { read: ["/a"], write: ["/b"], allow: [], programs: [] }],
      ["u", { read: [], write: [], allow: [], programs: ["git"] }],
    ]);
    const env = "isolation: {defaults: {env: {set: {A: a, B: b}}}}";
    expect(
      orderOf("extends: [b]\nisolation: {defaults: {env: {pass: [C], set: {B: c}}}}", "s", { b: env }).scope,
    ).toMatchObject({ environment: { pass: ["C"], set: { A: "a", B: "c" } } });
    expect(orderOf("extends: [b]", "s", { b: from }).scope.trace).toBe("none");
  });

  test("an order is worked out once", () => {
    const { isolation } = load("isolation: {servers: {s: {}}}").policy ?? {};
    for (const server of ["s", "other"]) expect(isolation?.orderOf(server)).toBe(isolation?.orderOf(server));
    const many = Array.from({ length: 1_100 }, (_, index) => isolation?.orderOf(`made-up-${index}`).server);
    expect(many.at(-1)).toBe("made-up-1099");
  });

  test("a server may be called anything", () => {
    const text = "isolation: {servers: {__proto__: {serial: true}, constructor: {trace: none}}}";
    expect(orderOf(text, "__proto__").scope.serial).toBe(true);
    expect(orderOf(text, "constructor").scope.trace).toBe("none");
    expect(orderOf(text, "toString").scope).toEqual(orderOf(text).scope);
  });
});

describe("words", () => {
  test("the paper's keys become defaults", () => {
    const text = `isolation: {trace_mode: py, persist_workspace: true, link_inputs: true, allowed_paths: [/data/],
      allowed_domains: [API.Example.com, "*.example.org:8443"], exec_trace_whitelisted: false, callTimeoutMs: 1000}`;
    expect(orderOf(text).scope).toMatchObject({
      trace: "full",
      files: { read: ["/data"], workspace: { mode: "read", per: "run" } },
      net: { mode: "list", allow: ["*.example.org:8443", "api.example.com:443"] },
      limits: { callTimeoutMs: 1_000 },
    });
    expect(orderOf("isolation: {persist_workspace: false, trace_mode: effects}").scope).toMatchObject({
      trace: "effects",
      files: { workspace: { per: "call" } },
    });
  });

  test("`require` in all its spellings", () => {
    const required = (text: string, server?: string) => orderOf(`isolation: {${text}}`, server).require;
    expect(required("require: strict")).toBe("A");
    expect(required("required: true")).toBe("B");
    expect(required("required: false")).toBe("none");
    expect(required("require: C, servers: {s: {require: strict}}")).toBe("A");
    expect(required("require: C, servers: {s: {require: strict}}", "t")).toBe("C");
    expect(required("require: A, servers: {s: {backend: off, require: none}}")).toBe("none");
  });

  test("backends", () => {
    const text = "isolation: {backend: off, servers: {s: {backend: learn}, t: {backend: auto}}}";
    expect(["s", "t", "u"].map((server) => orderOf(text, server).mode)).toEqual(["learn", "auto", "off"]);
  });

  test("addresses have one spelling as far as their text goes", () => {
    const text =
      'isolation: {defaults: {net: {allow: ["10.0.0.5", "10.0.0.0/24:1", "2001:DB8::1", "[2001:db8::1]:2"]}}}';
    expect(orderOf(text).scope.net.allow).toEqual([
      "10.0.0.0/24:1",
      "10.0.0.5:443",
      "[2001:db8::1]:2",
      "[2001:db8::1]:443",
    ]);
    const paths = 'isolation: {defaults: {files: {read: ["/a//b/./", "~/", "./x/", "/a/b"], write: ["."]}}}';
    expect(load(paths).diagnostics.map(({ message }) => message)).toEqual([
      "`~` would open everything in a home folder",
    ]);
    expect(orderOf(paths.replace('"~/", ', "")).scope.files).toMatchObject({ read: ["./x", "/a/b"], write: ["."] });
  });

  test("the builder says the same", () => {
    const servers = { s: scope({ net: { allow: ["b.example", "a.example:1"] }, tools: { t: { read: ["/x"] } } }) };
    const built = loadPolicy(
      { file: "p.ts", document: policy({ isolation: { servers } }) },
      { loader: () => undefined, hash },
    );
    const written = load(stringify({ isolation: { servers } }));
    expect(built.policy?.canonical).toBe(written.policy?.canonical);
    expect(built.policy?.canonical).toContain('"allow":["a.example:1","b.example:443"]');
  });
});

describe("refusals", () => {
  test.each([
    ["isolation: {defaults: {sockets: [/run/docker.sock]}}", "error SCOPE-SENSITIVE 2"],
    ["isolation: {defaults: {sockets: [/run/docker.sock], sensitive: [/run//docker.sock]}}", "info SCOPE-SENSITIVE 2"],
    [
      'isolation: {defaults: {net: {allow: ["169.254.169.254:80"]}, sensitive: ["169.254.169.254:80"]}}',
      "info SCOPE-SENSITIVE 2",
    ],
    ["isolation: {servers: {s: {tools: {t: {write: [/etc]}}}}}", "error SCOPE-BROAD 2"],
    ["isolation: {servers: {s: {tools: {t: {allow: ['*']}}}}}", "error SCOPE-BROAD 2"],
    ["isolation: {servers: {s: {tools: {t: {programs: ['a b']}}}}}", "error SCOPE-PATH 2"],
    ["isolation: {servers: {s: {exec: {programs: [./a/../b]}}}}", "error SCOPE-PATH 2"],
    ["isolation: {servers: {s: {files: {deny: [a]}}}}", "error SCOPE-PATH 2"],
    ["isolation: {defaults: {env: {pass: [SLUICEGATE_KEY]}}}", "error SCOPE-VARIABLE 2"],
    ["isolation: {defaults: {env: {pass: [HOME]}}}", "error SCOPE-VARIABLE 2"],
    ["isolation: {defaults: {env: {set: {DB_PASSWORD: hunter2}}}}", "error SCOPE-VARIABLE 2"],
    [`isolation: {defaults: {env: {set: {A: "${"x".repeat(8_193)}"}}}}`, "error SCOPE-VARIABLE 2"],
    ["isolation: {servers: {s: {net: {mode: none, allow: [a.example]}}}}", "error SCOPE-CONFLICT 2"],
    ["isolation: {servers: {s: {net: {mode: none}, tools: {t: {allow: [a.example]}}}}}", "error SCOPE-CONFLICT 2"],
    ["isolation: {servers: {s: {exec: {mode: none, programs: [git]}}}}", "error SCOPE-CONFLICT 2"],
    ["isolation: {servers: {s: {exec: {mode: any, programs: [git]}}}}", "info SCOPE-IDLE 2"],
    [
      "isolation: {defaults: {files: {workspace: {mode: direct, commit: review}}}, servers: {s: {}}}",
      "error SCOPE-CONFLICT 2",
    ],
    ["isolation:\n  require: A\n  servers: {s: {net: {mode: open}}}", "error SCOPE-CONFLICT 4"],
    ["isolation: {require: A-, defaults: {net: {mode: open}}}", "error SCOPE-CONFLICT 2"],
    ["isolation: {require: B, backend: off}", "error SCOPE-CONFLICT 2"],
    ["isolation: {require: B, servers: {s: {backend: off}}}", "error SCOPE-CONFLICT 2"],
    ["isolation: {required: true, require: A}", "error SCOPE-CONFLICT 2"],
    ["isolation: {allowed_domains: [a.example], defaults: {net: {mode: list}}}", "error SCOPE-CONFLICT 2"],
  ])("%s", (text, expected) => {
    expect(codes(text)).toEqual([expected]);
  });

  test("a secret is not repeated by the message that refuses it", () => {
    const { policy: compiled, diagnostics } = load("isolation: {defaults: {env: {set: {DB_PASSWORD: hunter2}}}}");
    expect(compiled).toBeUndefined();
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });

  test("a finding in the scope of a pack stands in the file of the pack", () => {
    const pack = "pack:\n  name: p\n  scope:\n    files: {read: [/etc]}\nlabels: {}";
    const [found] = load("servers: {s: {pack: p}}", { p: pack }).diagnostics;
    expect(found).toMatchObject({ code: "SG-POLICY-SCOPE-BROAD", file: "p", line: 5 });
  });
});

describe("laws", () => {
  const orders = (section: unknown): readonly (IsolationOrder | undefined)[] => {
    const loaded = load(stringify({ isolation: section }));
    return ["s", "t", "other"].map((server) => loaded.policy && isolationOrder(loaded.policy, server));
  };

  test("neither the order of keys nor of entries nor repetition changes an order", () => {
    fc.assert(
      fc.property(isolationSections, fc.integer(), (section, seed) => {
        expect(orders(shuffled(section, seed))).toEqual(orders(section));
      }),
      runs,
    );
  });

  test("digests are equal exactly where orders are", { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(isolationSections, isolationSections, (left, right) => {
        for (const one of orders(left)) {
          for (const other of orders(right)) {
            if (one === undefined || other === undefined) continue;
            const same = isDeepStrictEqual({ ...one, digest: "" }, { ...other, digest: "" });
            expect(one.digest === other.digest).toBe(same);
          }
        }
      }),
      runs,
    );
  });

  test("the canonical policy is itself the policy", () => {
    fc.assert(
      fc.property(isolationSections, (section) => {
        const { policy: compiled } = load(stringify({ isolation: section }));
        if (compiled === undefined) return;
        const again = loadCanonical(compiled.canonical, hash);
        expect(again?.digest).toBe(compiled.digest);
        expect(again && isolationOrder(again, "s")).toEqual(isolationOrder(compiled, "s"));
      }),
      runs,
    );
  });

  test("extending by nothing, or by itself, changes nothing", () => {
    fc.assert(
      fc.property(isolationSections, (section) => {
        const own = stringify({ isolation: section });
        const { policy: compiled } = load(own);
        if (compiled === undefined) return;
        expect(load("extends: [b]", { b: own }).policy?.digest).toBe(compiled.digest);
        expect(load(`extends: [b]\n${own}`, { b: own }).policy?.digest).toBe(compiled.digest);
      }),
      runs,
    );
  });
});
