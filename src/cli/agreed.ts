/** A question on the terminal that is answered with yes or no. */
import { createInterface } from "node:readline/promises";

/** Shows a text and asks; anything but `y` or `yes`, and the end of input, is no. */
export async function agreed(text: string, question: string): Promise<boolean> {
  process.stderr.write(`${text}\n`);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  try {
    const said = await Promise.race([asking.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(said.trim());
  } finally {
    asking.close();
  }
}
