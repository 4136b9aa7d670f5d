/** One spelling of each path and destination of a scope, and what a section leaves to be understood. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalPath, parseDestination } from "../../core/isolation/scope-patterns.ts";
import type { IsolationSection, ServerIsolationText } from "../document/shapes-isolation.ts";
import { isolationForm, packScopeForm, plainDestination, plainPath } from "./scopes.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };

describe("a path", () => {
  it.each([
    ["/srv//data/", "/srv/data"],
    ["/./srv/./data", "/srv/data"],
    ["/", "/"],
    ["//", "/"],
    ["/.", "/"],
    ["~", "~"],
    ["~/", "~"],
    ["~//notes/./", "~/notes"],
    [".", "."],
    ["./", "."],
    ["././out/", "./out"],
    ["/srv/...", "/srv/..."],
  ])("%j is %j", (path, plain) => {
    expect(plainPath(path)).toBe(plain);
  });

  it.each(["", "/srv/../etc/", "~/..", "srv//data/", "~ann//x/", "..", "../x"])("%j is left as it is", (path) => {
    expect(plainPath(path)).toBe(path);
  });

  it("law: an absolute one has one spelling, which names what it names", () => {
    const part = fc.constantFrom("", ".", "a", "b", "...");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const path = `/${parts.join("/")}`;
        expect(plainPath(path)).toBe(normalPath(path));
        expect(plainPath(plainPath(path))).toBe(plainPath(path));
      }),
      runs,
    );
  });
});

describe("a destination", () => {
  it.each([
    ["API.Example.com", "api.example.com:443"],
    ["api.example.com.:8443", "api.example.com:8443"],
    ["*.Example.org", "*.example.org:443"],
    ["bücher.example", "xn--bcher-kva.example:443"],
    ["10.0.0.7", "10.0.0.7:443"],
    ["10.0.0.0/24:80", "10.0.0.0/24:80"],
    ["2001:DB8::1", "[2001:db8::1]:443"],
    ["[2001:DB8::1]", "[2001:db8::1]:443"],
    ["[2001:db8::/64]:80", "[2001:db8::/64]:80"],
  ])("%s is %s", (text, plain) => {
    expect(plainDestination(text)).toBe(plain);
  });

  it.each(["", "https://Example.com", "Example.com:0", "two words", "*.*.example"])("%j is left as it is", (text) => {
    expect(plainDestination(text)).toBe(text);
  });

  it("law: its one spelling means what was written", () => {
    const host = fc.constantFrom(
      "A.example",
      "a.example.",
      "*.B.example",
      "10.0.0.7",
      "10.0.0.0/25",
      "::1",
      "FE80::/64",
    );
    const port = fc.constantFrom("", ":1", ":443", ":65535");
    fc.assert(
      fc.property(host, port, fc.boolean(), (name, suffix, bare) => {
        const text =
          name.includes(":") && !bare ? `[${name}]${suffix}` : name.includes(":") ? name : `${name}${suffix}`;
        const plain = plainDestination(text);
        expect(parseDestination(plain)).toEqual(parseDestination(text));
        expect(plainDestination(plain)).toBe(plain);
      }),
      runs,
    );
  });
});

describe("a section", () => {
  const server = (text: ServerIsolationText) => isolationForm({ servers: { s: text } }).servers["s"];

  it("without a word opens nothing, and demands nothing", () => {
    const form = isolationForm({});
    expect(form).toEqual({
      backend: "auto",
      require: "none",
      defaults: expect.objectContaining({ trace: "full", serial: false, onViolation: "reject", sockets: [] }),
      servers: {},
    });
    expect(form.defaults.files).toMatchObject({ read: [], write: [], deny: [] });
    expect([form.defaults.net.mode, form.defaults.net.allow]).toEqual(["none", []]);
    expect([form.defaults.exec, form.defaults.env]).toEqual([
      { mode: "any", programs: [] },
      { pass: [], set: {} },
    ]);
  });

  it("demands the best tier where it says `strict`, for all or for one server", () => {
    expect(isolationForm({ require: "strict" }).require).toBe("A");
    expect(isolationForm({ require: "B", backend: "off" })).toMatchObject({ require: "B", backend: "off" });
    expect(server({ require: "strict", serial: true })).toEqual({ require: "A", serial: true });
    expect(server({ backend: "learn" })).toEqual({ backend: "learn" });
  });

  it("asks the judge that it names about effects, and about nothing that could open something", () => {
    expect(isolationForm({ judge: { use: "j" } }).judge).toEqual({
      use: "j",
      effects: true,
      domains: false,
      onDistrust: "confirm",
      programs: [],
    });
    const judge = { use: "j", effects: false, domains: true, onDistrust: "deny" } as const;
    const form = isolationForm({ judge: { ...judge, programs: ["node", "git", "node"] } });
    expect(form.judge).toEqual({ ...judge, programs: ["git", "node"] });
  });

  it.each<[IsolationSection["exec_trace_whitelisted"], unknown]>([
    [undefined, undefined],
    [false, false],
    [true, undefined],
  ])("D26: only `false` leaves the judge of trusted servers out: %j is %j", (said, wanted) => {
    expect(isolationForm(said === undefined ? {} : { exec_trace_whitelisted: said }).exec_trace_whitelisted).toEqual(
      wanted,
    );
  });

  it("has one spelling of every entry, in order and once, wherever it stands", () => {
    const files = { read: ["/b//x", "/a/", "/b/x"], write: ["./out/"], deny: ["~//.ssh/"] };
    const scope = {
      files,
      net: { allow: ["B.example", "a.example:80", "b.example:443"], callBytesMax: 9 },
      exec: { programs: ["node", "git", "node"] },
      env: { pass: ["TZ", "LANG"], set: { A: "b" } },
      sockets: ["/run//x.sock"],
      sensitive: ["~/.netrc/", "./key//s", "/run//x.sock", "B.example"],
      limits: { memoryMb: 64 },
    };
    const plain = {
      files: { read: ["/a", "/b/x"], write: ["./out"], deny: ["~/.ssh"] },
      net: { mode: "list", allow: ["a.example:80", "b.example:443"], callBytesMax: 9 },
      exec: { mode: "list", programs: ["git", "node"] },
      env: { pass: ["LANG", "TZ"], set: { A: "b" } },
      sockets: ["/run/x.sock"],
      sensitive: ["./key/s", "/run/x.sock", "b.example:443", "~/.netrc"],
      limits: { memoryMb: 64 },
    };
    expect(server(scope)).toEqual(plain);
    expect(packScopeForm(scope)).toEqual(plain);
    expect(isolationForm({ defaults: scope }).defaults).toMatchObject(plain);
    const tools = {
      t: { read: ["/b/", "/a"], write: ["./o/"], allow: ["B.example"], programs: ["node", "git"] },
      u: {},
    };
    expect(packScopeForm({ tools })).toMatchObject({
      tools: {
        t: { read: ["/a", "/b"], write: ["./o"], allow: ["b.example:443"], programs: ["git", "node"] },
        u: {},
      },
    });
    expect(server({ files: { read: ["/a"] } })).toEqual({ files: { read: ["/a"] } });
    expect(server({ env: { set: { A: "b" } } })).toEqual({ env: { set: { A: "b" } } });
  });
});
