/** Questions on the terminal. */
import { createInterface } from "node:readline/promises";

/** A line from standard input, without the space around it; empty at its end. */
export async function typed(question: string): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  try {
    return (await Promise.race([asking.question(question), closed])).trim();
  } finally {
    asking.close();
  }
}

/** Shows a text and asks; anything but `y` or `yes`, and the end of input, is no. */
export async function agreed(text: string, question: string): Promise<boolean> {
  process.stderr.write(`${text}\n`);
  return /^y(es)?$/i.test(await typed(`${question} [y/N] `));
}
