/**
 * What the gateway sent, decided and asked in a test with scripted clients and servers, in a form that outlives a change
 * of words: sentences of its own, ids and digests are taken out, reason codes, rules and label paths stay.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import type { Decision } from "../../src/core/decision.ts";
import { type Json, isArray, isObject } from "../../src/core/json.ts";
import type { ApprovalCard } from "../../src/gateway/ports/services.ts";

export const transcriptsFile = join(import.meta.dirname, "transcripts.jsonl");
const writes = process.env["SLUICEGATE_GOLDEN"] === "write";

/** Of a longer line there is a beginning, and a digest of all of it. */
const lineCharactersMax = 320;

/** Of a stage that sends thousands of messages, the first. */
const linesMax = 60;

/** Properties play hundreds of stages in one test, each another one at each run. */
const stagesMax = 6;

const ids: ReadonlySet<string> = new Set(["id", "requestId", "progressToken"]);

export type Line = readonly [test: string, stage: number, said: string];

let known: ReadonlyMap<string, ReadonlySet<string>> | undefined;
let current = "";
let stages = 0;

/** Two files may have tests of one name: each of their transcripts counts. */
function recorded(): ReadonlyMap<string, ReadonlySet<string>> {
  if (known !== undefined) return known;
  const found = new Map<string, Set<string>>();
  for (const line of linesOf(readFileSync(transcriptsFile, "utf8"))) {
    const key = `${line[0]} #${line[1]}`;
    const said = found.get(key) ?? new Set<string>();
    found.set(key, said.add(line[2]));
  }
  known = found;
  return found;
}

export function linesOf(text: string): readonly Line[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line); // as `finish` wrote it
}

export class Transcript {
  readonly #test: string;
  readonly #stage: number;
  readonly #said: string[] = [];
  /** Texts of clients and servers: what else has a space in it is a sentence of the gateway. */
  readonly #foreign = new Set<string>();
  readonly #ids = new Map<string, number>();
  #ends = 0;

  constructor() {
    this.#test = expect.getState().currentTestName ?? "";
    stages = this.#test === current ? stages + 1 : 0;
    current = this.#test;
    this.#stage = stages;
  }

  /** A number for one end of the conversation. */
  end(side: "client" | "server"): string {
    this.#ends += 1;
    return `${side === "client" ? "c" : "s"}${this.#ends}`;
  }

  heard(value: Json): void {
    if (typeof value === "string") this.#foreign.add(value);
    else if (isArray(value)) value.forEach((one) => this.heard(one));
    else if (isObject(value)) Object.values(value).forEach((one) => this.heard(one as Json)); // members of JSON
  }

  sent(end: string, message: Json): void {
    this.#said.push(`${end} ${JSON.stringify(message)}`);
  }

  card({ server, tool, risks, choices }: ApprovalCard): void {
    this.#said.push(`card ${server}.${tool} ${[...risks].join(", ")} ${choices.join(" ")}`);
  }

  /** Compares with what is on record; a test that is on no record yet has nothing to be compared with. */
  finish(decisions: readonly Decision[]): void {
    if (this.#stage >= stagesMax) return;
    const messages = this.#said.map((line) => this.#plain(line));
    const text = [...cut(messages), ...cut(decisions.map(inShort))].join("\n");
    if (writes) return appendFileSync(transcriptsFile, `${JSON.stringify([this.#test, this.#stage, text])}\n`);
    const golden = recorded().get(`${this.#test} #${this.#stage}`);
    if (golden === undefined || golden.has(text)) return;
    const [first = ""] = golden;
    expect(text, "the transcript on record (test/golden/README.md)").toBe(first);
  }

  #plain(line: string): string {
    const start = line.indexOf("{");
    if (start < 0) return withoutNames(line);
    const message = this.#wordless(JSON.parse(line.slice(start)) as Json); // as `sent` wrote it
    return withoutNames(`${line.slice(0, start)}${JSON.stringify(message)}`);
  }

  /** Ids are counted through all gateways of a worker: only which are alike is compared. */
  #id(value: Json): string {
    const text = JSON.stringify(value);
    const number = this.#ids.get(text) ?? this.#ids.size + 1;
    this.#ids.set(text, number);
    return `#${number}`;
  }

  #wordless(value: Json): Json {
    if (typeof value === "string") return value.includes(" ") && !this.#foreign.has(value) ? "~" : value;
    if (isArray(value)) return value.map((one) => this.#wordless(one));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        ids.has(name) ? this.#id(one as Json) : this.#wordless(one as Json),
      ]),
    ); // JSON
  }
}

function cut(lines: readonly string[]): readonly string[] {
  const short = lines.slice(0, linesMax).map((line) => {
    if (line.length <= lineCharactersMax) return line;
    return `${line.slice(0, lineCharactersMax / 2)}... ${sha256(line).slice(0, 16)}`;
  });
  const more = lines.slice(linesMax);
  return more.length === 0 ? short : [...short, `${more.length} more ${sha256(more.join("\n")).slice(0, 16)}`];
}

/** Names and digests that chance or another count of them would change. */
function withoutNames(text: string): string {
  return text.replaceAll(/token\d+x*/g, "token").replaceAll(/\b[0-9a-f]{32,64}\b/g, "digest");
}

function inShort({ verdict, enforcedVerdict, reasons, obligations, option }: Decision): string {
  const said = reasons.map(({ code, rule, verdict: its }) => `${its} ${code}${rule === undefined ? "" : `(${rule})`}`);
  const paths = [...(option?.arguments ?? [])].flatMap(([name, { path }]) =>
    path.map(
      ({ server, tool, origin, pointer }) =>
        `${name}<=${server === undefined ? origin : `${server}.${tool}`}${pointer}`,
    ),
  );
  const kinds = obligations.map(({ kind }) => kind);
  const observed = enforcedVerdict === verdict ? [] : [`(${enforcedVerdict})`];
  return withoutNames(["=", verdict, ...observed, ...said, ...paths, ...kinds].join(" "));
}
