import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArgumentContract, Role, ToolContract } from "../../core/contract.ts";
import type { Json } from "../../core/json.ts";
import { exactly, makeLattice } from "../../core/label.ts";
import { commandWords } from "../../mechanisms/regulate/shell/command-words.ts";
import { selfProtection } from "./self-protection.ts";

const made = makeLattice({ levels: ["public", "private"], categories: [], groups: [] });
if (!made.ok) throw new Error(made.error);
const { bottom } = made.value;

const argument = (role: Role): ArgumentContract => ({
  role,
  sink: false,
  audience: 0,
  forbidden: bottom,
  schemaValues: [],
});

function tool(may: readonly string[], more: Partial<ToolContract> = {}): ToolContract {
  return {
    server: "files",
    tool: "t",
    toolDigest: undefined,
    source: "pack",
    effects: { must: [], may },
    flags: { irreversible: false, openWorld: false },
    arguments: new Map([
      ["path", argument("path")],
      ["to", argument("path")],
      ["text", argument("content")],
    ]),
    rest: argument("query"),
    output: { label: exactly(bottom), fields: [] },
    cases: [],
    reads: [],
    writes: [],
    opens: [],
    consequential: true,
    ...more,
  };
}

const { touched: own, holds } = selfProtection({
  kept: ["/home/ana/.local/state/sluicegate"],
  obeyed: ["/w/policy.yaml", "/home/ana/.config/sluicegate"],
  home: "/home/ana",
  base: "/srv",
});
const reader = tool(["read.local"]);
const writer = tool(["write.local"]);

const touched = (contract: ToolContract, given: { readonly [name: string]: Json }, workspace = ["/w"]): string =>
  own({ contract, arguments: given, workspace })?.stake ?? "nothing";

describe("the gateway's own files", () => {
  it.each<[string, Json]>([
    ["a list", Array.from({ length: 1_000_000 }, () => 7)],
    ["an object", Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, at]))],
    ["texts", Array.from({ length: 200_000 }, () => "a")],
  ])("B15: are found behind %s that is longer than a function may have arguments", (_, value) => {
    expect(touched(writer, { uri: [value, "/w/policy.yaml"] })).toBe("obeyed");
    expect(touched(writer, { path: value })).toBe("nothing");
  });

  it.each([
    ["a policy", { path: "/w/policy.yaml" }],
    ["in the workspace", { path: "policy.yaml" }],
    ["around a corner", { path: "sub/../policy.yaml" }],
    ["by a file URI", { path: "file:///w/policy%2Eyaml" }],
    ["on a file system without case", { path: "/W/POLICY.yaml" }],
    ["in a folder that is obeyed as a whole", { path: "~/.config/sluicegate/policies/new.yaml" }],
    ["through a process", { path: "/proc/self/root/w/policy.yaml" }],
    ["from where a process works", { path: "/proc/1/task/1/cwd/./policy.yaml" }],
    ["from there, by a file URI that is no path argument", { uri: "file:///proc/self/cwd/policy.yaml" }],
    ["among several", { path: ["/w/a.txt", "/w/policy.yaml"] }],
    ["deep in an argument that is no path", { edits: [{ file: "/w/policy.yaml" }] }],
    ["as the name of a member", { changes: { "/w/policy.yaml": "text" } }],
  ])("%s: whoever may change it asks, whoever reads it does not", (_name, given) => {
    expect(touched(writer, given)).toBe("obeyed");
    expect(touched(tool(["execute.local"]), given)).toBe("obeyed");
    expect(touched(reader, given)).toBe("nothing");
  });

  it.each([
    ["beside it", { path: "/w/policy.yaml.bak" }],
    ["elsewhere of that name", { path: "/other/policy.yaml" }],
    ["as text", { path: "/w/a.txt", text: "/w/policy.yaml" }],
    ["as a word", { note: "policy.yaml" }],
    ["the folder around it", { path: "/w" }],
    ["no path at all", { path: 7, to: null, other: "a\\b" }],
  ])("%s: nothing is asked", (_name, given) => {
    expect(touched(writer, given)).toBe("nothing");
  });

  it("its log and keys are nobody's business, not even to read; the home folder may be meant by `~`", () => {
    for (const path of ["~/.local/state/sluicegate/keys/signing.pem", "/home/ana/.local/state/sluicegate"]) {
      expect(touched(reader, { path })).toBe("kept");
      expect(touched(reader, { path: "x", uri: path })).toBe("kept");
    }
    expect(touched(reader, { path: "~" })).toBe("nothing");
    expect(touched(writer, { path: "~/.local/state" })).toBe("nothing");
  });

  it("a folder around may be moved or deleted with what is in it", () => {
    const away = { path: "/home/ana/.config", to: "/tmp/x" };
    expect(touched(writer, away)).toBe("obeyed");
    expect(touched(writer, { path: "~", to: "/tmp/x" })).toBe("kept");
    expect(touched(reader, away)).toBe("nothing");
    expect(touched(tool(["write.local.delete"]), { path: "/w" })).toBe("obeyed");
    const sometimes = tool(["read.local"], {
      cases: [{ predicates: [0] }, { predicates: [1], effects: { must: [], may: ["write.local.delete"] } }],
    });
    expect(touched(sometimes, { path: "/w" })).toBe("obeyed");
  });

  it("a relative path may be meant from where servers were started", () => {
    const { touched: started } = selfProtection({
      kept: [],
      obeyed: ["/srv/gateway.yaml"],
      home: "/root",
      base: "/srv",
    });
    const at = (path: string): unknown => started({ contract: writer, arguments: { path }, workspace: [] });
    expect(at("gateway.yaml")).toEqual({ place: "/srv/gateway.yaml", stake: "obeyed" });
    expect(at("../gateway.yaml")).toBeUndefined();
  });

  it.each([
    ["sed -i s/block/allow/ policy.yaml", "obeyed"],
    ["cat > ./policy.yaml <<E", "obeyed"],
    ["echo x >>/W/policy.yaml", "obeyed"],
    ["cp a.yaml ~/.config/sluicegate/policies/", "obeyed"],
    ["cp a.yaml $HOME/.config/sluicegate/", "obeyed"],
    ["npx sluicegate approve 3e8cfe260246", "obeyed"],
    ["s\\luicegate cards github --accept", "obeyed"],
    ["node /opt/bin/sluicegate.js runs new", "obeyed"],
    ["cat /home/ana/.local/state/sluicegate/keys/signing.pem", "kept"],
    ["cat my-policy.yaml policy.yaml2 policy.yaml-old", "nothing"],
    ["cd sluicegate && npm test", "nothing"],
    ["grep -rn sluicegate: docs", "nothing"],
  ])("a command: %s", (command, stake) => {
    const shell = tool(["execute.local"], { arguments: new Map([["command", argument("command")]]) });
    expect(touched(shell, { command })).toBe(stake);
  });

  describe("spelt in other ways (decision 0031)", () => {
    const { touched: read } = selfProtection({
      kept: ["/home/ana/.local/state/s1"],
      obeyed: ["/w/policy.yaml"],
      home: "/home/ana",
      base: "/srv",
      resolve: (path) => {
        if (path.startsWith("/w/Shared")) return `/home/ana/.local/state/s1${path.slice(9)}`;
        return path === "/w/other" ? "/w/policy.yaml" : path === "/w/gone" ? undefined : path;
      },
      commandWords,
    });
    const shell = tool(["execute.local"], { arguments: new Map([["command", argument("command")]]) });
    const stakeOf = (contract: ToolContract, given: { readonly [name: string]: Json }): string =>
      read({ contract, arguments: given, workspace: ["/w"] })?.stake ?? "nothing";

    it.each([
      ["s\\luicegate approve x", "obeyed"],
      ["'sluice'gate app\"ro\"ve x", "obeyed"],
      ["a=sluicegate; $a approve x", "obeyed"],
      ["{sluicegate,approve,x}", "obeyed"],
      ["bash -c 's\\luicegate approve x'", "obeyed"],
      ["echo $(slu\\icegate runs new)", "obeyed"],
      ['xargs sluice""gate approve < ids', "obeyed"],
      ["cat /home/ana/.local/state/s?/k*/signing.pem", "kept"],
      ["cat ~/.local/*/s1/keys/x", "kept"],
      ["cat $HOME/.local/state/[a-z]1/log.db", "kept"],
      ["cd ~/.local/state; cat s?/k*/signing.pem", "kept"],
      ["cat /home/ana/.local/st''ate/s1/log.db", "kept"],
      ["cp Shared/keys/a /tmp", "kept"],
      ["echo x > other", "obeyed"],
      ["echo x > p*.yaml", "obeyed"],
      ["echo x > p*c*.yaml", "obeyed"],
      ["echo x > p*zz*.yaml", "nothing"],
      ["echo x > ./*.yaml", "obeyed"],
      ["tee pol\\icy.yaml", "obeyed"],
      ["echo 'unclosed s\\luicegate approve x", "obeyed"],
      ["sed -i s/block/allow/ *", "obeyed"],
      ["ls -l sub/*", "nothing"],
      // A9: names that the line puts together, or does not tell.
      ["a=sluice; ${a}gate approve x", "obeyed"],
      ['a=sluice; "$a"gate approve x', "obeyed"],
      ["a=sluice; $a'gate' approve x", "obeyed"],
      ["export a=sluice; ${a}gate approve x", "obeyed"],
      ["printf -v a sluice; ${a}gate approve x", "obeyed"],
      ["for i in sluice; do ${i}gate approve x; done", "obeyed"],
      ["${a}gate approve x", "obeyed"],
      ["$a approve x", "obeyed"],
      ["env $a$b runs new", "obeyed"],
      ["npx slu${x}ice approve x", "obeyed"],
      ["$(echo sluice)gate approve x", "obeyed"],
      ["/opt/*/sluicegat? approve x", "obeyed"],
      ["sluice approve x", "obeyed"],
      ["$EDITOR notes.md", "nothing"],
      ["$CC $FLAGS main.c", "nothing"],
      ["${a}gate build", "nothing"],
      ["git $verb runs", "nothing"],
      ["make $target -j4", "nothing"],
      // A9: a folder around, by commands that take it away.
      ["rm -rf ~/.local", "kept"],
      ["mv /home/ana/.local/state /tmp/x", "kept"],
      ["cd ~ && rm -r .local", "kept"],
      ["cd /home/ana/.local; mv state x", "kept"],
      ["rm -rf ~/.l*", "kept"],
      ["rm -rf /home/*/.local", "kept"],
      ["sudo rm -rf /home", "kept"],
      ["find /home/ana -name x -delete", "kept"],
      ["ls -la ~/.local", "nothing"],
      ["find /home/ana -name x", "nothing"],
      ["rm -rf build dist/*.js", "nothing"],
      ["cd sub && rm -rf out", "nothing"],
      ["cat */*.md", "nothing"],
      ["cat gone", "nothing"],
      ["rm build/*.js", "nothing"],
      ["grep -rn slu*ce docs", "nothing"],
    ])("a command: %s", (command, stake) => {
      expect(stakeOf(shell, { command })).toBe(stake);
    });

    it("A9: a link behind many other paths is found, and a call with more than are followed is asked about", () => {
      const many = Array.from({ length: 4_000 }, (_, at) => `/w/f${at}`);
      expect(stakeOf(reader, { path: [...many, "/w/Shared/keys/signing.pem"] })).toBe("kept");
      expect(stakeOf(reader, { path: [...many, "/w/plain"] })).toBe("nothing");
      expect(stakeOf(reader, { path: [...many, ...many.map((one) => `${one}x`)] })).toBe("kept");
      expect(stakeOf(reader, { path: [...many, ...many] })).toBe("nothing");
    });

    it("A9: a folder around may be given another name by a tool that takes one path", () => {
      const naming = { path: "/home/ana/.local", name: "x" };
      expect(stakeOf(writer, naming)).toBe("kept");
      expect(stakeOf(reader, naming)).toBe("nothing");
      expect(stakeOf(writer, { path: "/home/ana/.local" })).toBe("nothing");
      // What works in the workspace names it, and is no renaming of it.
      expect(stakeOf(writer, { path: "/w", branch: "x" })).toBe("nothing");
    });

    it("a link to one of them, made after the start, is one of them", () => {
      expect(stakeOf(reader, { path: "/w/Shared/keys/signing.pem" })).toBe("kept");
      expect(stakeOf(reader, { path: "Shared" })).toBe("kept");
      expect(stakeOf(writer, { path: "/w/other" })).toBe("obeyed");
      expect(stakeOf(writer, { path: "/w/gone" })).toBe("nothing");
      expect(stakeOf(reader, { note: "file:///w/Shared/x" })).toBe("kept");
    });
  });

  it("a path is one of them, whatever is done with it", () => {
    expect(
      ["/w/policy.yaml", "/W/x/../policy.yaml", "/home/ana/.config/sluicegate/new.yaml"].filter(holds),
    ).toHaveLength(3);
    expect(["/home/ana/.local/state/sluicegate/log.db"].filter(holds)).toHaveLength(1);
    expect(["/w", "/w/other.yaml", "policy.yaml"].filter(holds)).toEqual([]);
  });

  it("law: however a path is spelled, it is the same place", () => {
    const part = fc.constantFrom("", ".", "a/..", "b/c/../..");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.boolean(), (parts, whole) => {
        const path = [...(whole ? ["/w"] : []), ...parts, "policy.yaml"].filter((one) => one !== "").join("/");
        expect(touched(writer, { path })).toBe("obeyed");
      }),
    );
  });
});
