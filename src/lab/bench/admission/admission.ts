/** What the detectors say of lists, suite by suite, beside rules that know nothing (contract: foresight.md 6). */
import { findingsIn, verdictOf } from "../../../mechanisms/pin/detect.ts";
import type { Finding } from "../../../mechanisms/pin/rules.ts";
import { textsOf } from "../../../mechanisms/pin/list-texts.ts";
import type { AdmissionCase, AdmissionSuite } from "./data.ts";

/** Share of entries in [0, 1] that a rule without knowledge would ask about; `askAll` and `askNone` are 1 and 0. */
export type AdmissionBaselines = { readonly length: number; readonly words: number };

export type AdmissionRow = {
  readonly suite: string;
  readonly label: string;
  readonly servers: number;
  readonly entries: number;
  /** Entries with findings of one family or more. */
  readonly asked: number;
  /** Entries with findings of two families or more. */
  readonly denied: number;
  /** Entries with a finding of the family. */
  readonly families: Readonly<Record<string, number>>;
  readonly baselines: AdmissionBaselines;
};

/** An entry with findings, for `--detail`. */
export type AdmissionDetail = {
  readonly suite: string;
  readonly server: string;
  readonly entry: string;
  readonly verdict: "confirm" | "deny";
  readonly findings: readonly Finding[];
};

export function admissionRow(suite: AdmissionSuite, found: (detail: AdmissionDetail) => void): AdmissionRow {
  const families: Record<string, number> = {};
  let asked = 0;
  let denied = 0;
  for (const { server, entry, siblings } of suite.cases) {
    const findings = findingsIn(entry, { siblings, foreign: [] });
    const verdict = verdictOf(findings);
    if (verdict === "allow") continue;
    asked += 1;
    if (verdict === "deny") denied += 1;
    for (const family of new Set(findings.map((one) => one.family))) families[family] = (families[family] ?? 0) + 1;
    const name = entry["name"];
    found({ suite: suite.name, server, entry: typeof name === "string" ? name : "instructions", verdict, findings });
  }
  const { name, label, cases } = suite;
  const servers = new Set(cases.map((one) => one.server)).size;
  return { suite: name, label, servers, entries: cases.length, asked, denied, families, baselines: baselines(cases) };
}

/** Longer than most honest entries, and words that orders have. */
const longCharacters = 500;
const orders = /\b(?:must|always|never|important|ignore|before|do not)\b/iu;

function baselines(cases: readonly AdmissionCase[]): AdmissionBaselines {
  const texts = cases.map((one) =>
    textsOf(one.entry)
      .texts.map((text) => text.text)
      .join("\n"),
  );
  const share = (asks: (text: string) => boolean): number => texts.filter(asks).length / Math.max(1, texts.length);
  return { length: share((text) => text.length > longCharacters), words: share((text) => orders.test(text)) };
}
