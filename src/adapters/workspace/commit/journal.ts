/**
 * Progress of a staged change in the workspace, one line per step. Lines are appended before (`temp`) and after
 * (`done`) the step they name; a line that was torn by the end of its process counts as not written.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Json, isArray } from "../../../core/json.ts";

export class Journal {
  readonly #descriptor: number;
  readonly #done = new Set<string>();
  readonly #placed = new Set<string>();
  #temporary: string[] = [];

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  static open(folder: string): Journal {
    const path = join(folder, "journal");
    const journal = new Journal(openSync(path, "a", 0o600));
    for (const line of readFileSync(path, "utf8").split("\n")) journal.#read(line);
    // A torn last line must not swallow the next one.
    journal.#write("\n");
    return journal;
  }

  /** Records that a temporary file is about to be created in the workspace. */
  temporary(path: string): void {
    this.#temporary.push(path);
    this.#line("temp", path);
  }

  /** Records that a new folder is in place, but its mode is not set yet. */
  placed(path: string): void {
    this.#placed.add(path);
    this.#line("placed", path);
  }

  done(path: string): void {
    this.#done.add(path);
    this.#line("done", path);
  }

  isDone(path: string): boolean {
    return this.#done.has(path);
  }

  isPlaced(path: string): boolean {
    return this.#placed.has(path);
  }

  temporaries(): readonly string[] {
    return this.#temporary;
  }

  /** Forgets the temporary files after their removal; a later reader removes them again, which does no harm. */
  forgetTemporaries(): void {
    this.#temporary = [];
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #read(line: string): void {
    const [word, path] = parts(line);
    if (path === undefined) return;
    if (word === "done") this.#done.add(path);
    if (word === "placed") this.#placed.add(path);
    if (word === "temp") this.#temporary.push(path);
  }

  #line(word: string, path: string): void {
    this.#write(`${JSON.stringify([word, path])}\n`);
  }

  #write(text: string): void {
    writeSync(this.#descriptor, text);
  }
}

function parts(line: string): readonly [string, string] | readonly [] {
  try {
    // Parsing edge: only two texts are taken.
    const value = JSON.parse(line) as Json;
    if (!isArray(value)) return [];
    const [word, path] = value;
    return typeof word === "string" && typeof path === "string" ? [word, path] : [];
  } catch {
    return [];
  }
}
