import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type EffectEvent, effectActions, effectOutcomes, effectPhases } from "../../core/isolation/effect-trace.ts";
import { traceOf } from "../../../test/kit/isolation/fake-projection.ts";
import { type Watched, proposeScope } from "./propose.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const quiet = { noise: (): boolean => false, exists: (): boolean => true };

function watched(tool: string | undefined, ...events: readonly Partial<EffectEvent>[]): Watched {
  return {
    tool,
    trace: traceOf(events, {
      places: { home: "/home/ada", workspace: ["/project"], code: ["/usr"], scratch: ["/tmp"] },
    }),
  };
}

function valuesOf(...all: readonly Watched[]): readonly string[] {
  return proposeScope("s", all, quiet).entries.map(({ place, tool, value }) => `${tool ?? "*"} ${place} ${value}`);
}

describe("a proposed scope", () => {
  it("names what was touched outside of workspace, code and scratch, and the tool that alone needs it", () => {
    expect(
      valuesOf(
        watched("a", { path: "/data/x" }, { path: "/project/y" }, { path: "/usr/lib/z" }, { path: "/tmp/t" }),
        watched("b", { path: "/home/ada/notes.txt" }, { action: "file-write", path: "/data/out" }),
        watched("a", { action: "net-connect", domain: "api.example.com", port: 443, transport: "tcp" }),
        watched("b", { action: "net-connect", domain: "api.example.com", port: 443, transport: "tcp" }),
        watched(undefined, { action: "process-spawn", program: "git", phase: "startup" }),
      ),
    ).toEqual([
      "* exec.programs git",
      "* net.allow api.example.com:443",
      "a files.read /data/x",
      "b files.read ~/notes.txt",
      "b files.write /data/out",
    ]);
  });

  it("needs no line for a file that is not there, for noise, for sockets of this machine, and for what has no entry", () => {
    const events = [
      { path: "/data/none", outcome: "failed" },
      { action: "net-connect", address: "/run/x.sock", transport: "unix" },
      { action: "net-connect", address: "192.0.2.1" },
      { action: "net-listen", port: 1 },
      { action: "process-signal" },
      { action: "limit-hit" },
      { action: "system-call" },
      { action: "process-spawn" },
      { action: "dns-query" },
      { path: undefined },
    ] as readonly Partial<EffectEvent>[];
    expect(valuesOf(watched("a", ...events))).toEqual([]);
    const all = proposeScope("s", [watched("a", { path: "/data/x" })], { ...quiet, noise: () => true });
    expect(all.entries).toEqual([]);
  });

  it("follows a rename at both ends, and takes a name that was only asked for as a wish to reach it", () => {
    expect(
      valuesOf(
        watched("a", { action: "file-rename", path: "/data/x", target: "/data/y" }),
        watched(
          "a",
          { action: "dns-query", domain: "example.org" },
          { action: "net-send", address: "2001:db8::1", port: 53 },
        ),
      ),
    ).toEqual(
      [
        "a files.write /data/x",
        "a files.write /data/y",
        "a net.allow [2001:db8::1]:53",
        "a net.allow example.org:443",
      ].toSorted(),
    );
  });

  it("names a folder where many of its files were read, but never the home or a folder of keys", () => {
    const many = (folder: string) => Array.from({ length: 6 }, (_, index) => ({ path: `${folder}/f${index}` }));
    expect(valuesOf(watched("a", ...many("/data/in")))).toEqual(["a files.read /data/in"]);
    expect(valuesOf(watched("a", ...many("/home/ada")))).toHaveLength(6);
    expect(valuesOf(watched("a", ...many("/home/ada/.config")))).toHaveLength(6);
  });

  it("never has what gives away keys; it says that it was wanted", () => {
    const proposal = proposeScope(
      "s",
      [
        watched(
          "a",
          { path: "/home/ada/.ssh/id_ed25519" },
          { action: "net-connect", address: "169.254.169.254", port: 80 },
        ),
      ],
      quiet,
    );
    expect(proposal.entries).toEqual([]);
    expect(proposal.withheld).toHaveLength(2);
    expect(proposal.text).toContain("# not proposed: it wanted to read ~/.ssh/id_ed25519, which gives away keys");
  });

  it("gives the workspace as it was used", () => {
    const mode = (...all: readonly Watched[]) => proposeScope("s", all, quiet).workspace.mode;
    expect(mode(watched("a"))).toBe("none");
    expect(mode(watched("a", { path: "/project/x" }))).toBe("read");
    expect(mode(watched("a", { action: "file-write", path: "/project/x" }))).toBe("overlay");
    const changes = [{ path: "x", kind: "added", bytes: 1, guarded: false }] as const;
    expect(mode({ tool: "a", trace: traceOf([], { changes }) })).toBe("overlay");
  });

  it("is bounded, and says so", () => {
    const events = Array.from(
      { length: 100 },
      (_, index) => ({ action: "process-spawn", program: `p${index}` }) as const,
    );
    const proposal = proposeScope("s", [watched("a", ...events), watched("b", ...events)], quiet);
    expect(proposal.entries).toHaveLength(64);
    expect(proposal.withheld).toEqual(["more than 64 entries of exec.programs: say by hand what it is for"]);
  });

  it("tells the evidence in words", () => {
    const tools = ["a", "b", "c", "d"];
    const all = tools.map((tool) => watched(tool, { path: "/data/x", count: 2 }));
    expect(proposeScope("s", all, quiet).entries[0]?.evidence).toBe("8 times, in a, b, c and 1 more");
  });

  it("is one YAML document with exactly these entries, whatever a server calls its files", () => {
    const text = fc.string({ maxLength: 12, unit: "grapheme" });
    const event = fc.record({
      action: fc.constantFrom(...effectActions),
      outcome: fc.constantFrom(...effectOutcomes),
      phase: fc.constantFrom(...effectPhases),
      path: text.map((part) => `/data/${part}`),
      target: text.map((part) => `/data/${part}`),
      program: text,
      domain: fc.option(text, { nil: undefined }),
      port: fc.integer({ min: 1, max: 65_535 }),
    });
    const one = fc.record({ tool: fc.option(text, { nil: undefined }), events: fc.array(event, { maxLength: 12 }) });
    fc.assert(
      fc.property(text, fc.array(one, { maxLength: 4 }), (server, all) => {
        const proposal = proposeScope(
          server,
          all.map(({ tool, events }) => watched(tool, ...(events as readonly Partial<EffectEvent>[]))),
          quiet,
        );
        const read: unknown = parse(proposal.text, { maxAliasCount: 0 });
        const found: string[] = [];
        expect(read).toHaveProperty("version", 1);
        const scope = (read as { isolation: { servers: Record<string, Record<string, never>> } }).isolation.servers[
          server
        ];
        const lists = (value: unknown): void => {
          if (Array.isArray(value)) found.push(...value.map(String));
          else if (typeof value === "object" && value !== null) Object.values(value).forEach(lists);
        };
        lists(scope);
        expect(found.toSorted()).toEqual(proposal.entries.map(({ value }) => value).toSorted());
      }),
      { numRuns: runs },
    );
  });
});

describe("wishes that no policy could hold", () => {
  const there = new Set(["/data", "/data/kept", "/home/ada", "/home/ada/notes", "/home/ada/.app", "/etc"]);
  const around = { ...quiet, exists: (path: string) => there.has(path) };
  const proposed = (...events: readonly Partial<EffectEvent>[]) => proposeScope("s", [watched("a", ...events)], around);
  const write = (path: string): Partial<EffectEvent> => ({ action: "file-create", outcome: "denied", path });
  const values = (...events: readonly Partial<EffectEvent>[]) => proposed(...events).entries.map(({ value }) => value);

  it("become the nearest folder that is there", () => {
    expect(values(write("/data/new/file"))).toEqual(["/data"]);
    expect(values(write("/home/ada/notes/new"), write("/home/ada/.app"))).toEqual(["~/.app", "~/notes"]);
    expect(values(write("/data/kept"), write("/data/new")), "one entry says both").toEqual(["/data"]);
  });

  it.each([
    [write("/nowhere/file"), "would open the whole machine: make a folder for it"],
    [write("/home/ada/file"), "would open everything in a home folder: make a folder"],
    [write("/etc/file"), "would open all of `/etc`: make a folder"],
    [write("/home/ada/.cache/x"), "that vanishes with its private home folder"],
    [write("/usr/lib/x"), "which is its own code"],
    [{ path: "/dev" }, "would open all of `/dev`: name what it needs in it"],
    [{ path: "/data/*" }, "which a scope cannot name"],
  ] as const)("or are told: %o", (event, told) => {
    const { entries, withheld } = proposed(event);
    expect(entries).toEqual([]);
    expect(withheld).toHaveLength(1);
    expect(withheld[0]).toContain(told);
  });

  it("are none where a server starts what it is made of, or finds no program", () => {
    const code = ["/usr", "/opt/tool"];
    const trace = traceOf(
      ["/opt/tool/bin/node", "/proc/self/exe", "/usr/bin/git"].map((program) => ({ action: "process-spawn", program })),
      { places: { home: "/home/ada", workspace: [], code, scratch: [] } },
    );
    const all = proposeScope("s", [{ tool: "a", trace }], around);
    expect(all.entries.map(({ value }) => value)).toEqual(["/usr/bin/git"]);
    expect(values({ action: "process-spawn", program: "/bin/git", outcome: "failed" })).toEqual([]);
  });

  it("to reach a name are those that reached it, not the question for it", () => {
    const reached = { action: "net-connect", domain: "db.example.com", port: 5432, outcome: "denied" } as const;
    expect(values({ action: "dns-query", domain: "db.example.com" }, reached)).toEqual(["db.example.com:5432"]);
  });

  it("are seen in a home folder that lies in a private one", () => {
    const places = { home: "/tmp/ada", workspace: ["/tmp/ada/project"], code: [], scratch: ["/tmp"] };
    const trace = traceOf([{ path: "/tmp/ada/x" }, { path: "/tmp/y" }, { path: "/tmp/ada/project/z" }], { places });
    const { entries, workspace } = proposeScope("s", [{ tool: "a", trace }], around);
    expect(entries.map(({ value }) => value)).toEqual(["~/x"]);
    expect(workspace.mode).toBe("read");
  });
});
