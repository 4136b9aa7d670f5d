import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Problem } from "../../policy/document/diagnostic.ts";
import { PolicyFiles, tagOfFile } from "./policy-files.ts";

const folder = mkdtempSync(join(tmpdir(), "sg-policies-"));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const anyone = { principal: "os:1", client: undefined, tag: undefined };
const everybody = file("all.yaml", "version: 1\nextends: [default]\n");
const cursor = file("cursor.yaml", "version: 1\nextends: [default]\nmatch: {client: cursor}\nmode: observe\n");

describe("policies of a running gateway", () => {
  it("are the default where none is given", () => {
    const policies = new PolicyFiles([], () => undefined);
    expect(policies.openAll().ok).toBe(true);
    expect(policies.select(anyone).source).toBe("default");
  });

  it("are selected by the most specific match; a named file is over any match", () => {
    const policies = new PolicyFiles([everybody, cursor], () => undefined);
    expect(policies.openAll().ok).toBe(true);
    expect(policies.select(anyone).source).toBe(everybody);
    expect(policies.select({ ...anyone, client: "cursor" }).source).toBe(cursor);
    expect(policies.select({ ...anyone, client: "cursor", tag: tagOfFile(everybody) }).source).toBe(everybody);
    policies.close();
  });

  it("are selected by the tag of a connection, else by that of the gateway", () => {
    const work = file("work.yaml", "version: 1\nextends: [default]\nmatch: {tag: work}\n");
    const files = [everybody, work];
    const untagged = new PolicyFiles(files, () => undefined);
    expect(untagged.openAll().ok).toBe(true);
    expect(untagged.select(anyone).source).toBe(everybody);
    expect(untagged.select({ ...anyone, tag: "work" }).source).toBe(work);
    const tagged = new PolicyFiles(files, () => undefined, { tag: "work" });
    expect(tagged.openAll().ok).toBe(true);
    expect(tagged.select(anyone).source).toBe(work);
    expect(tagged.select({ ...anyone, tag: "play" }).source).toBe(everybody);
    expect(tagged.select({ ...anyone, tag: tagOfFile(everybody) }).source).toBe(everybody);
    untagged.close();
    tagged.close();
  });

  it("let nothing pass where none matches", () => {
    const policies = new PolicyFiles([cursor], () => undefined);
    expect(policies.openAll().ok).toBe(true);
    expect(policies.select(anyone).source).toBe("no policy");
    policies.close();
  });

  it("refuse to load with a tie, and with a file that is wrong", () => {
    const again = file("again.yaml", "version: 1\nmatch: {client: cursor}\n");
    const tie = new PolicyFiles([cursor, again], () => undefined).openAll();
    expect(!tie.ok && tie.error).toContain("SG-POLICY-TIE");
    const wrong = new PolicyFiles([file("wrong.yaml", "version: 9\n")], () => undefined).openAll();
    expect(!wrong.ok && wrong.error).toContain("wrong.yaml:1");
  });

  it("are read again when a file changes that they extend, or a program that a rule asks", async () => {
    const lib = mkdtempSync(join(folder, "lib-"));
    const base = join(lib, "base.yaml");
    writeFileSync(base, "version: 1\nflow: {mode: strict}\n");
    const program = file("checks.ts", "export const busy = () => false;\n");
    const rule = "{id: R, tier: block, when: {tool: send}, predicate: 'checks.ts#busy', why: w}";
    const path = file("parts.yaml", `version: 1\nextends: [default, ${base}]\nrules: [${rule}]\n`);
    const told: string[] = [];
    const policies = new PolicyFiles([path], (text) => void told.push(text));
    expect(policies.openAll()).toMatchObject({ ok: true });
    const digests = new Set([policies.select(anyone).digest]);
    const changes = async (part: string, text: string): Promise<void> => {
      writeFileSync(part, text);
      await vi.waitFor(() => expect(digests.has(policies.select(anyone).digest)).toBe(false), { timeout: 5_000 });
      digests.add(policies.select(anyone).digest);
    };
    await changes(base, "version: 1\nflow: {mode: provenance}\n");
    await changes(program, "export const busy = () => true;\n");
    writeFileSync(program, "export const busy = 1 +;\n");
    await vi.waitFor(() => expect(told.some((text) => text.includes("does not load"))).toBe(true), { timeout: 5_000 });
    await changes(program, "export const busy = (call: unknown): boolean => call === 1;\n");
    policies.close();
  });

  it("regression: while the programs of a changed policy load, the old one holds, and changes keep their order", async () => {
    const path = file("asked.yaml", "version: 1\nextends: [default]\n");
    const asked: { readonly digest: string; readonly answer: (found: readonly Problem[]) => void }[] = [];
    const programs = ({ digest }: { readonly digest: string }): Promise<readonly Problem[]> =>
      new Promise((answer) => void asked.push({ digest, answer }));
    const policies = new PolicyFiles([path], () => undefined, { programs });
    expect(policies.openAll().ok).toBe(true);
    const old = policies.select(anyone).digest;
    writeFileSync(path, "version: 1\nextends: [default]\nflow: {mode: strict}\n");
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 5_000 });
    writeFileSync(path, "version: 1\nextends: [default]\nflow: {mode: none}\n");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([asked.length, policies.select(anyone).digest]).toEqual([1, old]);
    asked[0]?.answer([]);
    await vi.waitFor(() => expect(asked).toHaveLength(2), { timeout: 5_000 });
    expect(policies.select(anyone).digest).toBe(asked[0]?.digest);
    asked[1]?.answer([]);
    await vi.waitFor(() => expect(policies.select(anyone).digest).toBe(asked[1]?.digest), { timeout: 5_000 });
    policies.close();
  });

  it("are read again when a file changes, and stay when the change is wrong", async () => {
    const told: string[] = [];
    const path = file("live.yaml", "version: 1\nextends: [default]\n");
    const policies = new PolicyFiles([path], (text) => void told.push(text));
    expect(policies.openAll().ok).toBe(true);
    const changed = vi.fn();
    policies.onChange(changed);
    const before = policies.select(anyone).digest;
    writeFileSync(path, "version: 1\nextends: [default]\nflow: {mode: strict}\n");
    await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 5_000 });
    const after = policies.select(anyone).digest;
    expect(after).not.toBe(before);
    writeFileSync(path, "version: 1\nrules: nonsense\n");
    await vi.waitFor(() => expect(told.some((text) => text.includes("the old one stays"))).toBe(true), {
      timeout: 5_000,
    });
    expect(policies.select(anyone).digest).toBe(after);
    policies.close();
  });

  it("are others once those can be loaded, and the same until then", async () => {
    const told: string[] = [];
    let wanted: readonly string[] = [];
    const policies = new PolicyFiles([], (text) => void told.push(text), { wanted: () => wanted });
    expect(policies.openAll().ok).toBe(true);
    const changed = vi.fn();
    policies.onChange(changed);
    const strict = file("strict.yaml", "version: 1\nextends: [default]\nflow: {mode: strict}\n");
    expect(await policies.follow()).toMatchObject({ ok: true });
    expect([told, changed.mock.calls]).toEqual([[], []]);
    const wrong = file("unread.yaml", "version: 9\n");
    for (const files of [
      [strict, wrong],
      [strict, everybody],
    ]) {
      wanted = files;
      expect(await policies.follow()).toMatchObject({ ok: false });
      expect(policies.select(anyone).source).toBe("default");
    }
    wanted = [strict, cursor];
    await Promise.all([policies.follow(), policies.follow()]);
    expect(policies.select(anyone).source).toBe(strict);
    expect(policies.select({ ...anyone, client: "cursor" }).source).toBe(cursor);
    wanted = [];
    expect(await policies.follow()).toMatchObject({ ok: true });
    expect(policies.select(anyone).source).toBe("default");
    expect([told.length, changed.mock.calls.length]).toEqual([2, 2]);
    policies.close();
  });

  it("a file that two sessions name at the same time is loaded once", async () => {
    const path = file("twice.yaml", "version: 1\nextends: [default]\n");
    const policies = new PolicyFiles([], () => undefined);
    const [one, two] = await Promise.all([policies.load(path), policies.load(path)]);
    expect(one.ok && two.ok && one.value).toBe(two.ok && two.value);
    policies.close();
  });
});
