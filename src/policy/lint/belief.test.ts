import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { type JsonObject, stringMember } from "../../core/json.ts";
import { loadPolicy } from "../load.ts";
import { explainTool } from "./explain.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

function explained(text: string, listed: JsonObject = { name: "frob" }) {
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  const tool = stringMember(listed, "name") ?? "";
  return explainTool(loaded.policy, { server: "s", tool, listed, digestOf: (one) => hash(JSON.stringify(one)) });
}

it("each of the four sources has its sentence, and the enclosed process its result", () => {
  const { sources, enclosed, sentences } = explained("isolation: {}");
  expect(sources.declared).toBe("Nobody says what it does.");
  expect(sources.inferred).toBe("Nothing in its words says what it does.");
  expect(sources.observed).toMatch(/^Nothing yet/);
  expect(sources.enforced).toMatch(/^In tiers A and A- its process has no way out/);
  expect(enclosed).toMatchObject({ source: "enforced", flags: [] });
  expect(sentences).toContain(
    'While its process is enclosed it may do: execute.local, read.local, write.local; its projection permits nothing else; what it returns is between "public" and "private, untrusted, for nobody".',
  );
  expect(sentences.filter((one) => /^(Declared|Inferred|Observed|Enforced): /.test(one))).toHaveLength(4);
});

it("says what was declared by whom, and what words suggest", () => {
  const meta = { "io.github.sluicegate/labels": { effects: ["write.external.send"], flags: ["irreversible"] } };
  const shipped = explained("isolation: {}", { name: "delete_page", _meta: meta });
  expect(shipped.sources.declared).toBe("Its server says write.external.send.");
  expect(shipped.sources.inferred).toMatch(/write\.local\.delete, from `delete` in the name/);
  expect(shipped.enclosed?.flags).toEqual(["irreversible"]);
  expect(shipped.sentences.join("\n")).toMatch(/write\.local\.delete, irreversible; its projection permits/);
  const stated = explained("labels: {s.frob: {effects: [read.local]}}");
  expect(stated.sources.declared).toBe("Your policy says read.local.");
  expect(explained("labels: {s.frob: {args: {a: path}}}").sources.declared).toBe("Nobody says what it does.");
});

it("says why nothing is enforced: every way out by name, and what closes it", () => {
  expect(explained("").sources.enforced).toBe("Nothing: the policy has no section `isolation`.");
  const why = (scope: string): string => explained(`isolation: {servers: {${scope}}}`).sources.enforced;
  expect(why('s: {net: {allow: ["a.example.com:443"]}, sockets: [/srv/a.sock], files: {write: [/srv/data]}}')).toBe(
    "Nothing, since it has a network, and it uses sockets of this machine, and it writes files in place; to enclose it, leave out its `net` if it can work without, and leave out its `sockets` if it can work without, and let it write into an overlay of the workspace alone.",
  );
  expect(why("s: {backend: off}")).toMatch(/^Nothing, since `backend: off` enforces nothing; .*`backend: auto`/);
  expect(why("s: {backend: learn}")).toMatch(/^Nothing, since `backend: learn` enforces nothing/);
});

it("names the server that hinders, and the line that ends it", () => {
  const beside = (servers: string, more = ""): string =>
    explained(`isolation: {backend: where-possible, ${more}servers: {s: {net: {mode: none}}, ${servers}}}`).sources
      .enforced;
  expect(beside('sync: {net: {allow: ["a.example.com:443"]}}')).toBe(
    "Nothing, since server `sync` can read the workspace and has a network, so it could pass on what this one writes there; to enclose it, give `sync` `files: {workspace: {mode: none}}`, or give this one `files: {workspace: {commit: never}}` if nothing of what it writes is needed.",
  );
  expect(beside("sync: {sockets: [/srv/a.sock]}, web: {backend: off}")).toContain(
    "server `sync` (and 1 more) can read the workspace and uses sockets of this machine",
  );
  expect(beside("web: {backend: off}")).toContain(
    "isolate `web` (`backend: auto`) without a network, or give this one",
  );
  const wide = explained("isolation: {defaults: {net: {mode: list}}, servers: {s: {net: {mode: none}}}}");
  expect(wide.sources.enforced).toMatch(
    /any server without a scope of its own can read the workspace and has a network.*give `isolation.defaults`/,
  );
  expect(wide.enclosed).toBeUndefined();
});

it("says under isolation by default that a server may run bare", () => {
  const usual = explained("isolation: {backend: where-possible}");
  expect(usual.sources.enforced).toMatch(/^In tiers A and A- its process has no way out.*runs bare, nothing is/);
  expect(usual.enclosed).toMatchObject({ source: "enforced" });
});
