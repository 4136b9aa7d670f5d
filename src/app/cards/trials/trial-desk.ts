/**
 * Trials of servers that a gateway knows: made when the operator asks, put on record for exactly this program and this list,
 * and shown on the card. A trial with findings is evidence; one without says what it looked at, and relaxes nothing.
 */
import { type JsonObject, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { digest } from "../../../wire/canonical.ts";
import type { ServerCommand } from "../../client/driven-server.ts";
import { sha256, today, toolDigest } from "../../policy/policy-source.ts";
import type { ProbeReport } from "../../probe/probe-server.ts";
import { many, shown } from "../../state/sentences.ts";
import { programDigest } from "./program-digest.ts";
import type { TrialFiles } from "./trial-files.ts";
import { type TrialRecord, type TrialStanding, isAgainst, standingOf, trialDays } from "./trial-records.ts";

/** What a card says of trials. */
export type CardTrial = {
  /** Of exactly this program and list; undefined where there is none in force. */
  readonly now: Pick<TrialRecord, "verdict" | "at"> | undefined;
  /** Sentences on what was found, and on which version. */
  readonly lines: readonly string[];
  /** What was not run or not looked at. */
  readonly gaps: readonly string[];
};

export type TrialDeskParts = {
  readonly files: TrialFiles;
  readonly probe: (server: string, target: ServerCommand) => Promise<Result<ProbeReport, string>>;
  /** State folder with the lock of packages. */
  readonly packages: string;
  readonly wallMs: () => number;
};

const dayMs = 86_400_000;
const findingsShownMax = 4;

export class TrialDesk {
  readonly #parts: TrialDeskParts;
  readonly #running = new Set<string>();

  constructor(parts: TrialDeskParts) {
    this.#parts = parts;
  }

  /** Tries a server out; gives the evidence against it, where there is any. The error is a sentence. */
  async tryOut(server: string, target: ServerCommand): Promise<Result<string | undefined, string>> {
    if (this.#running.has(server)) return err(`\`${shown(server, 64)}\` is being tried out: wait for that.`);
    this.#running.add(server);
    try {
      const before = this.#parts.files.read();
      if (!before.ok) return before;
      const { probe, packages, wallMs, files } = this.#parts;
      const program = programDigest(target, packages);
      const report = await probe(server, target);
      if (!report.ok) return err(`\`${shown(server, 64)}\` could not be tried out: ${report.error}`);
      // The program that was started first is the one that was tried.
      const made = recordOf(server, program, report.value, wallMs());
      const written = await files.add(made);
      const why = evidenceIn(made);
      if (!written.ok) return why === undefined ? written : ok(why);
      return ok(written.value === before.value ? undefined : why);
    } finally {
      this.#running.delete(server);
    }
  }

  /** `list`: the entries that the server lists now. */
  shownOn(server: string, target: ServerCommand, list: readonly JsonObject[]): CardTrial | undefined {
    const { files, packages, wallMs } = this.#parts;
    const records = files.read();
    if (!records.ok)
      return { now: undefined, lines: [records.error], gaps: ["Whether it was tried out is not known."] };
    const program = programDigest(target, packages);
    const day = today(wallMs());
    return cardTrial(server, standingOf(records.value, { server, program, list: listDigest(list), day }));
  }
}

/** Order is no part of it: a server may list the same tools in any. */
export function listDigest(tools: readonly JsonObject[]): string {
  return digest(tools.map((tool) => [stringMember(tool, "name") ?? "", toolDigest(tool)].join(" ")).toSorted(), sha256);
}

function recordOf(server: string, program: string, report: ProbeReport, nowMs: number): TrialRecord {
  const { verdict, coverage, objections, probes, tools } = report;
  return {
    server,
    program,
    list: listDigest(tools),
    verdict,
    at: new Date(nowMs).toISOString(),
    until: today(nowMs + trialDays * dayMs),
    calls: probes,
    run: coverage.run,
    listed: coverage.listed,
    // What rejects alone comes first.
    findings: objections
      .toSorted((one, other) => Number(other.hard) - Number(one.hard))
      .map(({ tool, reason }) => (tool === undefined ? reason : `${shown(tool, 60)}: ${reason}`)),
    gaps: [
      ...coverage.notRun.map(({ tool, reason }) => `\`${shown(tool, 60)}\` was not tried out: ${reason}.`),
      ...coverage.limits,
    ],
  };
}

function evidenceIn({ verdict, findings }: TrialRecord): string | undefined {
  if (verdict !== "rejected") return undefined;
  return `its trial rejected it: ${shown(findings[0] ?? "more than half of its calls had findings", 120)}`;
}

const verdictWords = {
  clean: "nothing found",
  partial: "nothing found in what was run, and not all was",
  "not-run": "nothing could be run",
  suspect: "look at what was found",
  rejected: "rejected",
} as const;

function cardTrial(server: string, { now, over, otherList, against }: TrialStanding): CardTrial | undefined {
  const others = against
    .slice(0, 2)
    .map((one) => `another version: ${phraseOf(one)} (${one.findings[0] ?? "many findings"})`);
  if (now !== undefined) {
    const found = now.findings.slice(0, findingsShownMax).map((finding) => `found: ${finding}`);
    const rest = now.findings.length - findingsShownMax;
    const more = rest > 0 ? [`found: ${many(rest, "other thing")}`] : [];
    return { now, lines: [phraseOf(now), ...found, ...more, ...others], gaps: now.gaps };
  }
  const why =
    over !== undefined
      ? `Its trial of ${over.at.slice(0, 10)} is over: \`sluicegate cards ${shown(server, 64)} --probe\` makes another.`
      : otherList === undefined
        ? undefined
        : `When it was tried out on ${otherList.at.slice(0, 10)} it listed other tools: these were not run.`;
  if (why === undefined && others.length === 0) return undefined;
  return { now: undefined, lines: others, gaps: why === undefined ? [] : [why] };
}

function phraseOf({ verdict, at, calls, run, listed }: TrialRecord): string {
  const tools = `${run} of ${many(listed, "tool")}`;
  return `${verdictWords[verdict]} on ${at.slice(0, 10)}, in ${many(calls, "call")} with made-up data to ${tools}`;
}

/** Whether the trial speaks against what was answered before it; an answer that came later has seen it. */
export function isOpenAgainst(
  trial: CardTrial | undefined,
  answeredAt: string | undefined,
): "suspect" | "rejected" | undefined {
  const { verdict, at } = trial?.now ?? {};
  if (verdict === undefined || at === undefined || !isAgainst(verdict)) return undefined;
  if (answeredAt !== undefined && answeredAt > at) return undefined;
  return verdict === "rejected" ? "rejected" : "suspect";
}
