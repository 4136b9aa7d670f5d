/** Readings of cards in the policies of a running gateway: they stop to count whatever became of the files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkDocument, type PolicySource } from "../../policy/canonical/policy-document.ts";
import { type Problem, problem } from "../../policy/document/diagnostic.ts";
import { PolicyFiles, type PolicyOptions } from "./policy-files.ts";
import { today } from "./policy-source.ts";

const anyone = { principal: "os:1", client: undefined, tag: undefined };
const dayMs = 86_400_000;
const text = "version: 1\nextends: [default]\n";

function accepted(until = "2999-01-01"): PolicySource {
  const label = { effects: ["read.local"] };
  const readings = [{ server: "app", tool: "get", digest: "a".repeat(64), label, until }];
  const checked = checkDocument({ version: 1, readings }, "accepted.json");
  if (!checked.ok) throw new Error(JSON.stringify(checked.error));
  return checked.value;
}

/** A policy file of a gateway, with readings that can be taken back. */
function gateway(source: PolicySource | undefined, more: PolicyOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "sg-readings-"));
  const path = join(folder, "policy.yaml");
  writeFileSync(path, text);
  const listeners: (() => void)[] = [];
  const readings = { source, onChange: (listener: () => void) => void listeners.push(listener) };
  const told: string[] = [];
  const policies = new PolicyFiles([path], (line) => void told.push(line), { ...more, readings });
  onTestFinished(() => {
    policies.close();
    rmSync(folder, { recursive: true, force: true });
  });
  expect(policies.openAll()).toMatchObject({ ok: true });
  const answer = (now: PolicySource | undefined): void => {
    readings.source = now;
    for (const listener of listeners) listener();
  };
  const digest = (): string => policies.select(anyone).digest;
  return { path, told, policies, answer, digest };
}

const bare = (): string => gateway(undefined).digest();
const soon = { timeout: 5_000 };

test("attack: with an error in the policy file, what is taken back from a server stops to count at once", async () => {
  const { path, told, answer, digest, policies } = gateway(accepted());
  expect(digest()).not.toBe(bare());
  const changed = vi.fn();
  policies.onChange(changed);
  writeFileSync(path, "version: 1\nrules: nonsense\n");
  await vi.waitFor(() => expect(told.join()).toContain("the old one stays"), soon);
  answer(undefined);
  expect(digest()).toBe(bare());
  expect(changed).toHaveBeenCalledOnce();
  answer(accepted());
  expect(digest()).not.toBe(bare());
});

test("attack: the same where the policy file is gone", () => {
  const { path, answer, digest } = gateway(accepted());
  rmSync(path);
  answer(undefined);
  expect(digest()).toBe(bare());
});

test("a reading that ended stops to count, whatever became of the file", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const { path, policies, digest } = gateway(accepted(today()));
  rmSync(path);
  policies.newDay(Date.now());
  expect(digest()).not.toBe(bare());
  vi.setSystemTime(Date.now() + dayMs);
  policies.newDay(Date.now());
  expect(digest()).toBe(bare());
});

test("attack: what is taken back while the programs of a changed policy load does not count again with it", async () => {
  const asked: (() => void)[] = [];
  const programs = (): Promise<readonly Problem[]> => new Promise((ready) => void asked.push(() => ready([])));
  const { path, answer, digest, policies } = gateway(accepted(), { programs });
  writeFileSync(path, `${text}flow: {mode: strict}\n`);
  await vi.waitFor(() => expect(asked).toHaveLength(1), soon);
  answer(undefined);
  asked[0]?.();
  await vi.waitFor(() => expect(digest()).not.toBe(bare()), soon);
  expect(policies.select(anyone).canonical).not.toContain("readings");
  expect(policies.select(anyone).canonical).toContain("strict");
});

test("attack: nor with a policy that is loaded for the first time", async () => {
  const asked: (() => void)[] = [];
  const programs = (): Promise<readonly Problem[]> => new Promise((ready) => void asked.push(() => ready([])));
  const { answer, policies } = gateway(accepted(), { programs });
  const loading = policies.load(undefined);
  await vi.waitFor(() => expect(asked).toHaveLength(1), soon);
  answer(undefined);
  asked[0]?.();
  const loaded = await loading;
  expect(loaded.ok && loaded.value.canonical.includes("readings")).toBe(false);
});

test("the same fault is told once a minute", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let looked = 0;
  const programs = (): Promise<readonly Problem[]> => {
    looked += 1;
    return Promise.resolve([problem("PREDICATE", ["rules"], "it does not load", "write it")]);
  };
  const { path, told } = gateway(undefined, { programs });
  const write = async (mode: string): Promise<void> => {
    const before = looked;
    writeFileSync(path, `${text}flow: {mode: ${mode}}\n`);
    await vi.waitFor(() => expect(looked).toBeGreaterThan(before), soon);
  };
  const faults = (): number => told.filter((line) => line.includes("it does not load")).length;
  await write("strict");
  await vi.waitFor(() => expect(faults()).toBe(1), soon);
  await write("none");
  await write("strict");
  expect(faults()).toBe(1);
  vi.setSystemTime(Date.now() + 60_000);
  await write("none");
  await vi.waitFor(() => expect(faults()).toBe(2), soon);
});
