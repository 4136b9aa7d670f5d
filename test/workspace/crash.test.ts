/** A gateway that is killed at any moment of a commit: the next one finishes it or finds nothing begun. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { recover } from "../../src/adapters/workspace/commit/recover.ts";
import { type Edit, applyEdits, treeOf } from "./edits.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const top = mkdtempSync(join(tmpdir(), "workspace-crash-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const filesMax = 40;
/** Each costs the start of a process. */
const killPointsMax = 50;
const numbers = Array.from({ length: filesMax }, (_, index) => index);
const before: readonly Edit[] = [
  { kind: "folder", path: "old" },
  ...numbers.map((index): Edit => ({ kind: "write", path: `old/${index}`, text: `before ${index}` })),
  { kind: "write", path: "turns", text: "file" },
];
const edits: readonly Edit[] = [
  ...numbers.slice(0, 20).map((index): Edit => ({ kind: "write", path: `old/${index}`, text: `after ${index}` })),
  ...numbers.slice(20, 30).map((index): Edit => ({ kind: "remove", path: `old/${index}` })),
  ...numbers.slice(30).map((index): Edit => ({ kind: "mode", path: `old/${index}`, mode: 0o600 })),
  { kind: "remove", path: "turns" },
  { kind: "folder", path: "turns" },
  { kind: "mode", path: "turns", mode: 0o750 },
  ...numbers.map((index): Edit => ({ kind: "write", path: `turns/${index}`, text: "x".repeat(index * 1_000) })),
  { kind: "link", path: "link", target: "turns/1" },
];

// Too long for a command line.
const editsFile = join(top, "edits.json");
writeFileSync(editsFile, JSON.stringify(edits));

type Killed = { readonly began: boolean; readonly ended: boolean; readonly tookMs: number };

/** Runs a commit and kills it this long after it began; undefined = lets it end. */
async function commitKilled(folder: string, state: string, killMs: number | undefined): Promise<Killed> {
  const writer = join(import.meta.dirname, "crash-writer.ts");
  const child = spawn(process.execPath, [writer, folder, state, editsFile], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  let beganMs = 0;
  let tookMs = 0;
  child.stdout.on("data", (bytes: Buffer) => {
    said += bytes.toString();
    if (beganMs === 0 && said.includes("begins\n")) {
      beganMs = performance.now();
      if (killMs !== undefined) setTimeout(() => child.kill("SIGKILL"), killMs);
    }
    if (said.includes('"ok"')) tookMs = performance.now() - beganMs;
  });
  await once(child, "exit");
  return { began: said.includes("begins"), ended: said.includes('"ok"'), tookMs };
}

function prepared(name: string): { readonly folder: string; readonly state: string } {
  const [folder, state] = [join(top, name, "workspace"), join(top, name, "state")];
  mkdirSync(folder, { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  applyEdits(folder, before);
  return { folder, state };
}

describe("a gateway that is killed while it commits", () => {
  it("leaves the workspace as it was or as it is to be, once the next gateway has looked", async () => {
    const plain = prepared("plain").folder;
    const asItWas = treeOf(plain);
    applyEdits(plain, edits);
    const asItIsToBe = treeOf(plain);
    const whole = prepared("whole");
    const { tookMs } = await commitKilled(whole.folder, whole.state, undefined);
    expect(treeOf(whole.folder)).toEqual(asItIsToBe);
    const seen = { before: 0, between: 0, after: 0 };
    const points = Math.max(6, Math.min(killPointsMax, Math.floor(runs / 20)));
    for (let point = 0; point < points; point += 1) {
      const { folder, state } = prepared(`kill-${point}`);
      const killed = await commitKilled(folder, state, (tookMs * 1.2 * point) / points);
      expect(killed.began).toBe(true);
      const found = treeOf(folder);
      const agreed = manifests(state).some((text) => text.includes('"state":"applying"'));
      await recover(state);
      const left = treeOf(folder);
      // Once all was saved the commit goes on; before that nothing had been touched.
      expect(left).toEqual(agreed || killed.ended || same(found, asItIsToBe) ? asItIsToBe : asItWas);
      expect(namesIn(join(state, "changes"))).toEqual([]);
      expect(namesIn(join(state, "projections"))).toEqual([]);
      seen[same(found, asItWas) ? "before" : same(found, asItIsToBe) ? "after" : "between"] += 1;
    }
    // Kill points that all fall on one side would show nothing.
    console.log(
      `kill points: ${seen.before} before, ${seen.between} between, ${seen.after} after the first and last change`,
    );
    expect(seen.before + seen.between).toBeGreaterThan(0);
  }, 120_000);
});

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.join("\n") === other.join("\n");
}

function manifests(state: string): readonly string[] {
  const folder = join(state, "changes");
  return namesIn(folder)
    .map((id) => join(folder, id, "manifest.json"))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"));
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
