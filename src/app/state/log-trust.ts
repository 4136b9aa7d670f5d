/**
 * Whether the log of a state folder is the one that its keys have served, and unaltered. A gateway that starts compares
 * the log with what the keys remember, checks the newest records before it serves, and the rest while it serves.
 */
import { haveServed, type LogMemory, readLogMemory, writeLogMemory } from "../../adapters/keys/log-memory.ts";
import { openKeys } from "../../adapters/keys/sealing.ts";
import type { Result } from "../../core/result.ts";
import type { Finding } from "../../gateway/log/chain-check.ts";
import { verifyLog } from "../../gateway/log/verify.ts";
import type { Head, LogKeys, Store } from "../../gateway/ports/store.ts";
import { haveLastingKeys, logIsThere, logPlaces } from "./log-files.ts";

/** Records that are checked before anything is served: about 60 ms. */
const checkedFirst = 2_000;

/** Pause after each page that is checked while the gateway serves: a tenth of one processor. */
const pauseMs = 30;

const restore = "Restore a backup, or run `sluicegate audit set-aside` to go on without it.";

function dayOf(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}

/** What the keys of a state folder miss; undefined where no log was lost. */
export function keysOlder(home: string, memory: LogMemory | undefined): Finding | undefined {
  const { keys } = logPlaces(home);
  const finding = (head: Head | undefined, what: string): Finding => {
    const at = head === undefined ? "" : ` (record ${head.writer}/${head.seq})`;
    const sentence = `The keys are older than the log: ${what}${at}. ${restore}`;
    return { kind: "keys-older", writer: head?.writer ?? 0, seq: head?.seq ?? 0, sentence };
  };
  const { lost } = memory ?? {};
  if (lost !== undefined) return finding(lost.head, `the log that they signed was gone on ${dayOf(lost.wallMs)}`);
  if (logIsThere(home) || !haveServed(keys)) return undefined;
  return finding(memory?.head, "the log that they signed is gone");
}

/** The same for a log that is not there; undefined where its keys are missing too. */
export function missedLog(home: string): Finding | undefined {
  const { keys: folder } = logPlaces(home);
  if (logIsThere(home) || !haveServed(folder) || !haveLastingKeys(home)) return undefined;
  const keys = openKeys(folder);
  return keys.ok ? remembered(home, keys.value).findings[0] : undefined;
}

/** Everything that `audit verify` and `doctor` have to compare the log with. */
export type Remembered = { readonly head: Head | undefined; readonly findings: readonly Finding[] };

export function remembered(home: string, keys: LogKeys): Remembered {
  const memory = readLogMemory(logPlaces(home).keys, keys);
  if (!memory.ok) {
    return { head: undefined, findings: [{ kind: "keys-older", writer: 0, seq: 0, sentence: memory.error }] };
  }
  const older = keysOlder(home, memory.value);
  return { head: memory.value?.head, findings: older === undefined ? [] : [older] };
}

export type LogTrust = {
  /** Why the log cannot be believed; undefined as long as nothing is wrong with it. */
  readonly broken: () => string | undefined;
  /** Every record was checked, and nothing is wrong. */
  readonly checked: () => boolean;
  /** Resolves once the log may be served from; the rest is checked later. */
  readonly checkFirst: () => Promise<void>;
  /** Keeps the head of the log beside the keys. */
  readonly keep: () => Promise<void>;
  readonly stop: () => void;
};

export type TrustSetup = {
  readonly home: string;
  readonly keys: LogKeys;
  /** What the keys missed before the log was opened, and perhaps made anew. */
  readonly before: Result<LogMemory | undefined, string>;
  readonly older: Finding | undefined;
  readonly store: Store;
  readonly wallMs: () => number;
  /** The log cannot be believed, for this reason. */
  readonly lose: (sentence: string) => Promise<void>;
  readonly tell: (sentence: string) => void;
};

export function logTrust(setup: TrustSetup): LogTrust {
  const { home, keys, store } = setup;
  const folder = logPlaces(home).keys;
  const memory = setup.before.ok ? setup.before.value : undefined;
  const lost = memory?.lost ?? lostIn(setup, memory);
  let broken: string | undefined;
  let stopped = false;
  let checked = false;
  // Of a head that was just written the disk may know nothing yet: only the one before it is remembered.
  let settled = store.opening.previous;
  let losing: Promise<void> = Promise.resolve();
  const lose = (sentence: string): void => {
    if (broken !== undefined) return;
    broken = sentence;
    losing = setup.lose(sentence);
  };
  const remember = (head: Head | undefined): void => {
    // What contradicts the log stays as it is, so that every later start and `audit verify` find it again.
    if (broken !== undefined && lost === undefined) return;
    const said = { ...(head === undefined ? {} : { head }), ...(lost === undefined ? {} : { lost }) };
    const written = writeLogMemory(folder, keys, said);
    if (!written.ok) setup.tell(written.error);
  };
  return {
    broken: () => broken,
    checked: () => checked && broken === undefined,
    checkFirst: async () => {
      if (!setup.before.ok) lose(setup.before.error);
      if (setup.older !== undefined) lose(setup.older.sentence);
      // After a power cut the last records may be gone without any act; the runs hold everything then in any case.
      const known = store.opening.resumeAtTop || lost !== undefined ? undefined : memory?.head;
      let served: () => void = () => undefined;
      const first = new Promise<void>((resolve) => (served = resolve));
      let records = 0;
      void verifyLog(store, keys, {
        remembered: known,
        found: ({ sentence }) => lose(`${sentence} ${restore}`),
        pace: async (more) => {
          records += more;
          if (records < checkedFirst) return !stopped;
          served();
          await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
          return !stopped;
        },
      }).then((all) => {
        checked = all.ok && !stopped;
        served();
      }, served);
      await first;
      await losing;
      remember(settled);
    },
    keep: async () => {
      const head = await store.head(store.opening.writer);
      remember(settled);
      if (head.ok) settled = head.value;
    },
    stop: () => {
      stopped = true;
    },
  };
}

function lostIn({ older, wallMs }: TrustSetup, memory: LogMemory | undefined): LogMemory["lost"] {
  if (older === undefined) return undefined;
  return { wallMs: wallMs(), ...(memory?.head === undefined ? {} : { head: memory.head }) };
}
