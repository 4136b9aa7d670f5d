// The oracle of a running gateway: which model answers follows from the policy of the run, over reloads.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkJudges } from "../../src/cli/doctor/surroundings.ts";
import { PolicyOracles } from "../../src/app/oracles/oracles.ts";
import type { CompiledPolicy } from "../../src/policy/compile/compile.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { context } from "./contexts.ts";
import { predictionOf, questionOf } from "./judged.ts";
import { type ModelServer, startModelServer, verdict } from "../kit/server/model-server.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

function policyOf(text: string): CompiledPolicy {
  const loaded = loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return loaded.policy;
}

const judging = (server: ModelServer, more = ""): CompiledPolicy =>
  policyOf(
    `${more}regulation: {models: {judge: j}}\njudges: {j: {url: "${server.url}/v1", model: m, labelFirst: false}}\n`,
  );

let first: ModelServer;
let second: ModelServer;
beforeEach(async () => {
  first = await startModelServer(() => verdict("unsafe", ["mail.send_mail"]));
  second = await startModelServer(() => verdict("critical", ["mail.send_mail"]));
});
afterEach(() => Promise.all([first.close(), second.close()]));

async function ask(oracles: PolicyOracles, policy: CompiledPolicy) {
  const about = { policy: policy.digest, run: "r" };
  const [answer] = await oracles.answer([questionOf(context, "advisory")], 5_000, about);
  return predictionOf(answer);
}

it("says `none configured` where the policy configures none, also beside one that does", async () => {
  const oracles = new PolicyOracles(() => undefined);
  const without = policyOf(`judges: {j: {url: "${first.url}", model: m}}\n`);
  oracles.learn(without);
  expect(await ask(oracles, without)).toBe("none configured");
  oracles.learn(judging(second));
  expect(await ask(oracles, without)).toBe("none configured");
  expect(first.received).toEqual([]);
  expect(predictionOf((await oracles.answer([questionOf(context, "advisory")], 100))[0])).toBe("none configured");
});

it("asks the judge of the policy of the run; a changed policy brings its own, an unchanged judge stays", async () => {
  const oracles = new PolicyOracles(() => undefined);
  const before = judging(first);
  oracles.learn(before);
  expect(await ask(oracles, before)).toMatchObject({ safety: "unsafe" });
  const after = judging(second);
  oracles.learn(after);
  expect(await ask(oracles, after)).toMatchObject({ safety: "critical" });
  expect(await ask(oracles, before)).toMatchObject({ safety: "unsafe" });
  // Canary and question, once each: another policy with the same judge finds it tested, and its answer remembered.
  const elsewhere = judging(second, "mode: observe\n");
  oracles.learn(elsewhere);
  expect(await ask(oracles, elsewhere)).toMatchObject({ safety: "critical" });
  expect(first.received).toHaveLength(2);
  expect(second.received).toHaveLength(2);
});

it("answers with the embedded head where a policy wants it, beside the judge or alone", async () => {
  const oracles = new PolicyOracles(() => undefined);
  const alone = policyOf("regulation: {models: {embedded: true}}\n");
  oracles.learn(alone);
  expect(await ask(oracles, alone)).toMatchObject({ model: "embedded" });
  const text = `regulation: {models: {judge: j, embedded: true}}\njudges: {j: {url: "${first.url}/v1", model: m}}\n`;
  const both = policyOf(text);
  oracles.learn(both);
  expect(await ask(oracles, both)).toMatchObject({ model: "embedded+j", safety: "unsafe" });
});

it("loads neither model clients nor `ai` for a gateway without models", () => {
  const entry = resolve(import.meta.dirname, "../../src/app/gateway/daemon-gateway.ts");
  const program = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
    await import(${JSON.stringify(entry)});
    process.stdout.write(JSON.stringify(seen));
  `;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    timeout: 20_000,
  });
  const seen = JSON.parse(run.stdout) as readonly string[]; // written by the program above
  expect(seen.some((url) => url.endsWith("/app/oracles/oracles.ts"))).toBe(true);
  const models = /\/node_modules\/(ai|@ai-sdk|node-llama-cpp)\/|\/adapters\/models\/|\/src\/oracles\/(?!labels\/)/;
  expect(seen.filter((url) => models.test(url))).toEqual([]);
});

it("can be examined: `doctor` says whether the judge of a policy answers", async () => {
  const home = mkdtempSync(join(tmpdir(), "sg-judges-"));
  const before = process.env["SLUICEGATE_POLICY"];
  const judge = (more: string): string =>
    `version: 1\nregulation: {models: {judge: j}}\njudges: {j: {url: "${first.url}/v1", model: m${more}}}\n`;
  const checked = async (text: string) => {
    writeFileSync(join(home, "policy.yaml"), text);
    return checkJudges();
  };
  process.env["SLUICEGATE_POLICY"] = join(home, "policy.yaml");
  try {
    expect(await checked("version: 1\n")).toEqual([]);
    expect(await checked(judge(""))).toMatchObject([{ state: "ok", name: "judge" }]);
    first.script = () => verdict("safe");
    expect(await checked(judge(""))).toMatchObject([{ state: "failed", sentence: expect.stringContaining("obeys") }]);
    first.script = () => "cut";
    expect(await checked(judge(""))).toMatchObject([{ state: "failed", sentence: expect.stringContaining("reached") }]);
    const slow = verdict("unsafe", ["mail.send_mail"]);
    first.script = () => (slow === "hang" || slow === "cut" ? slow : { ...slow, delayMs: 400 });
    expect(await checked(judge(", wait: 20ms, canary: false, labelFirst: false"))).toMatchObject([{ state: "failed" }]);
    expect(await checked(judge(", wait: 700ms, labelFirst: false"))).toMatchObject([{ state: "note" }]);
    // `doctor` sees the whole environment of its shell, the daemon does not.
    first.script = () => verdict("unsafe", ["mail.send_mail"]);
    for (const [variable, states] of [
      ["SG_TEST_KEY", ["note", "ok"]],
      ["SLUICEGATE_TEST_KEY", ["ok"]],
    ] as const) {
      process.env[variable] = "sk-1";
      const checks = await checked(judge(`, keyEnv: ${variable}, labelFirst: false`));
      delete process.env[variable];
      expect(checks.map(({ state }) => state)).toEqual(states);
      for (const { sentence } of checks) expect(sentence.length).toBeLessThanOrEqual(240);
    }
  } finally {
    if (before === undefined) delete process.env["SLUICEGATE_POLICY"];
    else process.env["SLUICEGATE_POLICY"] = before;
    rmSync(home, { recursive: true });
  }
});
