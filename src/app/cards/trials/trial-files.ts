/** Verdicts of trials in the state folder, `cards/trials.json`: written by one process at a time, read where it changed. */
import { type Stats, lstatSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { takeLock } from "../../../adapters/daemon/lock.ts";
import { privateFolder } from "../../../adapters/keys/key-files.ts";
import { replaceFile } from "../../../adapters/replace-file.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { shortPath } from "../../state/sentences.ts";
import { fileSentence, textFile, whyUnwritten } from "../../state/text-file.ts";
import { type TrialRecord, readTrials, trialsText, withTrial } from "./trial-records.ts";

const fileBytesMax = 16 * 1024 * 1024;

/** Tries to get the turn of writing, and the wait between two. */
const turnsMax = 100;
const turnMs = 20;

const mend = "mend it, or remove it and try the servers out again.";

export class TrialFiles {
  readonly file: string;
  readonly #folder: string;
  #seen = "";
  #records: Result<readonly TrialRecord[], string> = ok([]);

  /** `home`: the state folder. */
  constructor(home: string) {
    this.#folder = join(home, "cards");
    this.file = join(this.#folder, "trials.json");
  }

  /** All records; the error is a sentence. A file that cannot be read is no file without findings. */
  read(): Result<readonly TrialRecord[], string> {
    const found = lstatSync(this.file, { throwIfNoEntry: false });
    const seen = found === undefined ? "" : `${found.ino} ${found.mtimeMs} ${found.size} ${found.mode}`;
    if (seen === this.#seen) return this.#records;
    this.#records = found === undefined ? ok([]) : this.#parsed(found);
    this.#seen = seen;
    return this.#records;
  }

  /** Puts a trial on record, alone among all processes; gives the records then. */
  async add(made: TrialRecord): Promise<Result<readonly TrialRecord[], string>> {
    const usable = privateFolder(this.#folder);
    if (!usable.ok) return usable;
    const turn = await this.#turn();
    if (!turn.ok) return turn;
    try {
      const before = this.read();
      if (!before.ok) return before;
      const next = withTrial(before.value, made);
      if (next !== before.value) replaceFile(this.file, trialsText(next));
      return this.read();
    } catch (cause) {
      return err(`${shortPath(this.file)} cannot be written (${whyUnwritten(cause)}): mend that, then repeat.`);
    } finally {
      turn.value.release();
    }
  }

  #parsed(found: Stats): Result<readonly TrialRecord[], string> {
    const isForeign = process.platform !== "win32" && (found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0);
    if (!found.isFile() || isForeign) {
      return err(
        `${shortPath(this.file)} is not a file that you alone may write: check who changed it, then \`chmod 600\` or remove it.`,
      );
    }
    const text = textFile(this.file, fileBytesMax);
    if (!text.ok) return err(fileSentence(this.file, text.error, `too large: ${mend}`, mend));
    const records = readTrials(text.value);
    return records.ok ? records : err(`${shortPath(this.file)}: ${records.error}: ${mend}`);
  }

  async #turn(): Promise<ReturnType<typeof takeLock>> {
    for (let turn = 0; ; turn += 1) {
      const taken = takeLock(join(this.#folder, "trials.lock"));
      if (taken.ok) return taken;
      if (taken.error !== "held")
        return err(`${shortPath(this.#folder)} cannot be used (${taken.error}): check its owner.`);
      if (turn >= turnsMax) return err("Another process writes the file of trials: try again.");
      await pause(turnMs);
    }
  }
}
