/**
 * What a key folder remembers of its log, so that a log that was removed, emptied or put back to an older copy does
 * not pass for a new one. The file is signed by the key beside it: a process that can sign can also write a log.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Json, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Head, LogKeys } from "../../gateway/ports/store.ts";
import { dayKeysIn } from "./sealing.ts";
import type { KeyFailure } from "./key-files.ts";

export type LogMemory = {
  /** A record that was on the disk; undefined until the first was there for certain. */
  readonly head?: Head;
  /** When the log of these keys was found to be gone (ms since 1970), and the head that it had. */
  readonly lost?: { readonly wallMs: number; readonly head?: Head };
};

const memoryFile = "log-head.json";

/** A memory has a few hundred bytes; anything larger is another file. */
const memoryBytesMax = 16_384;

const placeOf = (folder: string): string => join(folder, memoryFile);

/** Undefined where nothing was remembered yet. The error is a sentence for the user. */
export function readLogMemory(folder: string, keys: LogKeys): Result<LogMemory | undefined, KeyFailure> {
  const place = placeOf(folder);
  if (!existsSync(place)) return ok(undefined);
  const wrong = err(
    `${place} is not what its keys have signed, so whether the log is the same is unknown: restore it, or run \`sluicegate audit set-aside\`.`,
  );
  try {
    const found = statSync(place);
    if (!found.isFile() || found.size > memoryBytesMax) return wrong;
    const file = JSON.parse(readFileSync(place, "utf8")) as Json; // the edge: each member is checked below
    const body = stringMember(file, "body") ?? "";
    const signature = Buffer.from(stringMember(file, "signature") ?? "", "hex");
    if (keys.verify(keys.signer, body, signature) !== true) return wrong;
    const said = JSON.parse(body) as Json;
    const lost = member(said, "lost");
    const wallMs = member(lost, "wallMs");
    return ok({
      ...headIn(said),
      ...(typeof wallMs === "number" ? { lost: { wallMs, ...headIn(lost) } } : {}),
    });
  } catch {
    return wrong;
  }
}

function headIn(value: Json | undefined): { readonly head?: Head } {
  const head = member(value, "head");
  const [writer, seq, fingerprint] = [member(head, "writer"), member(head, "seq"), stringMember(head, "fingerprint")];
  if (typeof writer !== "number" || typeof seq !== "number" || fingerprint === undefined) return {};
  return { head: { writer, seq, fingerprint } };
}

/** Replaces the memory in one step. The error is a sentence for the user; the log goes on without it. */
export function writeLogMemory(folder: string, keys: LogKeys, memory: LogMemory): Result<void, KeyFailure> {
  const place = placeOf(folder);
  try {
    const body = JSON.stringify({ format: 1, ...memory });
    const signature = Buffer.from(keys.sign(body)).toString("hex");
    writeFileSync(`${place}.new`, `${JSON.stringify({ body, signature })}\n`, { mode: 0o600 });
    renameSync(`${place}.new`, place);
    return ok(undefined);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "an unknown error";
    return err(`${place} cannot be written (${code}): a log that is removed later would not be missed. Free its disk.`);
  }
}

/** Whether these keys have served a log: they remember one, or have sealed records. */
export function haveServed(folder: string): boolean {
  return existsSync(placeOf(folder)) || dayKeysIn(folder).length > 0;
}
