/**
 * A line that is typed at the controlling terminal and not shown. It is read from the terminal itself: what is piped in
 * may come from any program, and an argument would stand in the list of processes.
 */
import { closeSync, openSync } from "node:fs";
import { ReadStream, isatty } from "node:tty";
import { attempt } from "../adapters/attempt.ts";

/** Characters of a line; more is no password. */
const charactersMax = 2_048;

/** The line; undefined without a terminal, or where it was interrupted. */
export function hiddenLine(question: string): Promise<string | undefined> {
  const terminal = attempt(() => openSync("/dev/tty", "r"), undefined);
  if (terminal === undefined) return Promise.resolve(undefined);
  if (!isatty(terminal)) {
    closeSync(terminal);
    return Promise.resolve(undefined);
  }
  const input = new ReadStream(terminal);
  input.setRawMode(true);
  process.stderr.write(question);
  return new Promise((resolve) => {
    let line = "";
    const end = (value: string | undefined): void => {
      input.setRawMode(false);
      input.destroy();
      process.stderr.write("\n");
      resolve(value);
    };
    input.setEncoding("utf8");
    input.on("error", () => end(undefined));
    input.on("data", (part: string) => {
      for (const sign of part) {
        if (sign === "\r" || sign === "\n") return end(line);
        // Ctrl-C and Ctrl-D: a raw terminal sends no signal for them.
        if (sign === "\u0003" || sign === "\u0004") return end(undefined);
        if (sign === "\u007f" || sign === "\b") line = [...line].slice(0, -1).join("");
        else if (line.length < charactersMax) line += sign;
      }
    });
  });
}
