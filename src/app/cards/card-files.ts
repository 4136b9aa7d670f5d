/**
 * Answers to admission cards in the state folder: `cards/accepted.json`, a policy document with the readings that were
 * accepted, and `cards/answers.json`, what was answered of each server. Both are replaced in one step, by one process at
 * a time, and are read only where no other user could have written them.
 */
import { type Stats, lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { takeLock } from "../../adapters/daemon/lock.ts";
import { privateFolder } from "../../adapters/keys/key-files.ts";
import { replaceFile } from "../../adapters/replace-file.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type PolicySource, parsePolicy } from "../../policy/canonical/policy-document.ts";
import type { ReadingText } from "../../policy/sections/readings.ts";
import { policyTextUnitsMax, readingsMax } from "../../policy/values/limits.ts";
import { diagnosticLine } from "../policy/diagnostic-line.ts";
import { today } from "../policy/policy-source.ts";
import { shortPath } from "../state/sentences.ts";
import { fileSentence, textFile, whyUnread, whyUnwritten } from "../state/text-file.ts";
import { type ServerAnswers, answersText, isRestriction, readAnswers, serversMax } from "./card-answers.ts";

/** Bytes of the file of answers: a digest for each tool of each server. */
const answersBytesMax = 16_777_216;

/** Tries to get the turn of writing, and the wait between two. */
const turnsMax = 100;
const turnMs = 20;

/** Everything that was answered. */
export type CardState = { readonly readings: readonly ReadingText[]; readonly servers: ServerAnswers };

const nothing: CardState = { readings: [], servers: new Map() };

const nothingAnswered = "nothing was answered: mend that, then repeat.";
const notWhole = "the answer is not whole, and less may be accepted than before: mend that, then repeat.";

const mend = "mend it, or remove it and answer the cards again.";

export class CardFiles {
  readonly accepted: string;
  readonly answers: string;
  readonly #folder: string;
  readonly #replace: typeof replaceFile;

  /** `home`: the state folder; `cards` in it is made with the first answer. */
  constructor(home: string, replace = replaceFile) {
    this.#replace = replace;
    this.#folder = join(home, "cards");
    this.accepted = join(this.#folder, "accepted.json");
    this.answers = join(this.#folder, "answers.json");
  }

  /** The error is a sentence with place and remedy. */
  read(): Result<CardState, string> {
    const readings = this.#readings();
    if (!readings.ok) return readings;
    const servers = this.servers();
    return servers.ok ? ok({ readings: readings.value?.document.readings ?? [], servers: servers.value }) : servers;
  }

  /** What was answered of each server; what restricts one holds even where the readings cannot be read. */
  servers(): Result<ServerAnswers, string> {
    const text = this.#ownText(this.answers, answersBytesMax);
    if (!text.ok) return text;
    const servers = text.value === undefined ? ok(nothing.servers) : readAnswers(text.value);
    return servers.ok ? servers : err(`${shortPath(this.answers)}: ${servers.error}: ${mend}`);
  }

  /** The readings that count, as a document to be added to every policy; undefined where there are none. */
  source(): Result<PolicySource | undefined, string> {
    const state = this.read();
    return state.ok ? ok(this.counting(state.value)) : state;
  }

  /** The same of a state that was read. */
  counting({ servers, readings }: CardState): PolicySource | undefined {
    const counting = readings.filter(({ server }) => {
      const answer = servers.get(server);
      return answer?.answer !== "refused" && answer?.flagged === undefined;
    });
    const opened = openedHosts(servers);
    if (counting.length === 0 && opened.length === 0) return undefined;
    const locate = (): { line: number; column: number } => ({ line: 0, column: 0 });
    const isolation = opened.length === 0 ? {} : { isolation: { servers: Object.fromEntries(opened) } };
    return { file: this.accepted, locate, document: { version: 1, readings: counting, ...isolation } };
  }

  /**
   * Changes what is on record, alone among all processes. Readings that stay are written first, then the answers, then
   * all readings: a crash between two files leaves a server with less than was meant, never with more.
   */
  async change(to: (state: CardState) => Result<CardState, string>): Promise<Result<CardState, string>> {
    const usable = privateFolder(this.#folder);
    if (!usable.ok) return usable;
    const turn = await this.#turn();
    if (!turn.ok) return turn;
    try {
      const state = this.read();
      if (!state.ok) return state;
      const next = to(state.value);
      if (!next.ok) return next;
      const written = this.#write(state.value, next.value);
      return written.ok ? next : written;
    } finally {
      turn.value.release();
    }
  }

  #write(before: CardState, { readings, servers }: CardState): Result<void, string> {
    const [document, answered] = [documentText(readings), boundedAnswers(servers)];
    if (answered === undefined) {
      return err(
        `More answers than ${shortPath(this.answers)} may hold: take those of servers back that you no longer use, with \`sluicegate cards NAME --forget\`.`,
      );
    }
    if (readings.length > readingsMax || document.length > policyTextUnitsMax) {
      return err(
        `More readings than ${shortPath(this.accepted)} may hold: remove those of servers that you no longer use from it.`,
      );
    }
    // What counts is in both files. Readings that stand before and after count under either file of answers.
    const whole = new Set(readings.map((one) => JSON.stringify(one)));
    const both = before.readings.filter((one) => whole.has(JSON.stringify(one)));
    const steps = [
      ...(both.length < before.readings.length ? [() => this.#replaced(this.accepted, documentText(both))] : []),
      () => this.#replaced(this.answers, answered),
      ...(both.length < readings.length ? [() => this.#replaced(this.accepted, document)] : []),
    ];
    for (const [place, step] of steps.entries()) {
      const done = step();
      if (!done.ok) return err(`${done.error}, so ${place === 0 ? nothingAnswered : notWhole}`);
    }
    return ok(undefined);
  }

  /** The error is a sentence without an end. */
  #replaced(file: string, text: string): Result<void, string> {
    try {
      return ok(this.#replace(file, text));
    } catch (cause) {
      return err(`${shortPath(file)} cannot be written (${whyUnwritten(cause)})`);
    }
  }

  #readings(): Result<PolicySource | undefined, string> {
    const text = this.#ownText(this.accepted, policyTextUnitsMax);
    if (!text.ok || text.value === undefined) return text.ok ? ok(undefined) : text;
    const parsed = parsePolicy(text.value, this.accepted);
    if (!parsed.ok) {
      const [first] = parsed.error;
      return err(first === undefined ? `${shortPath(this.accepted)} is no policy: ${mend}` : diagnosticLine(first));
    }
    const other = Object.keys(parsed.value.document).find((name) => name !== "version" && name !== "readings");
    if (other !== undefined) {
      return err(
        `${shortPath(this.accepted)} has a section \`${other}\`: only accepted readings stand there, so ${mend}`,
      );
    }
    return ok(parsed.value);
  }

  /** The text of a file that this user alone may write; undefined where there is none. */
  #ownText(file: string, bytesMax: number): Result<string | undefined, string> {
    try {
      // In a folder of others an older file of this user can be put in the place of the newest.
      const folder = statSync(this.#folder, { throwIfNoEntry: false });
      const own = lstatSync(file, { throwIfNoEntry: false });
      if (folder === undefined || own === undefined) return ok(undefined);
      const odd = !folder.isDirectory() || isForeign(folder) ? this.#folder : file;
      if (odd !== file || !own.isFile() || isForeign(own)) {
        const [what, mode] = odd === file ? ["file", 600] : ["folder", 700];
        return err(
          `${shortPath(odd)} is not a ${what} that you alone may write: check who changed it, then \`chmod ${mode}\` or remove it.`,
        );
      }
    } catch (cause) {
      return err(`${shortPath(file)} cannot be read (${whyUnread(cause)}): ${mend}`);
    }
    const text = textFile(file, bytesMax);
    return text.ok ? ok(text.value) : err(fileSentence(file, text.error, `too large: ${mend}`, mend));
  }

  async #turn(): Promise<ReturnType<typeof takeLock>> {
    for (let turn = 0; ; turn += 1) {
      const taken = takeLock(join(this.#folder, "lock"));
      if (taken.ok) return taken;
      if (taken.error !== "held")
        return err(`${shortPath(this.#folder)} cannot be used (${taken.error}): check its owner.`);
      if (turn >= turnsMax) return err("Another process holds the file of cards: try again.");
      await pause(turnMs);
    }
  }
}

type Opened = { readonly net: { readonly allow: string[] }; readonly files?: { readonly workspace: { mode: "none" } } };

/** The isolation of servers to which a card opened hosts. */
function openedHosts(servers: ServerAnswers): readonly (readonly [string, Opened])[] {
  const now = today();
  return [...servers].flatMap(([server, { answer, flagged, hosts }]) => {
    if (hosts === undefined || hosts.until < now || answer === "refused" || flagged !== undefined) return [];
    const unseen = hosts.workspace ? {} : { files: { workspace: { mode: "none" } as const } };
    return [[server, { net: { allow: [...hosts.allow] }, ...unseen }] as const];
  });
}

/**
 * The text of the answers. Where they are too many or too long, those that restrict and open nothing make room: a refusal must find it,
 * and what such an answer is good for is one notice less. Undefined where there is no room for what restricts.
 */
function boundedAnswers(servers: ServerAnswers): string | undefined {
  const restricting = new Map(
    [...servers].filter(([, one]) => isRestriction(one.answer) || one.flagged !== undefined || one.hosts !== undefined),
  );
  for (const kept of [servers, restricting]) {
    const text = kept.size > serversMax ? undefined : answersText(kept);
    if (text !== undefined && Buffer.byteLength(text) <= answersBytesMax) return text;
  }
  return undefined;
}

function documentText(readings: readonly ReadingText[]): string {
  return `${JSON.stringify({ version: 1, readings }, undefined, 1)}\n`;
}

/** Whether other users may write it; Windows keeps access rights elsewhere. */
function isForeign({ uid, mode }: Stats): boolean {
  return process.platform !== "win32" && (uid !== process.getuid?.() || (mode & 0o022) !== 0);
}
