/**
 * `sluicegate approve --watch`: shows each call that waits, as it comes, and answers it while the client is still held.
 * Lines on standard input answer: `y` once, `v` the value, `n` refuse, each for the oldest open card or with its id.
 */
import { createInterface } from "node:readline";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import { askDaemon } from "../control-client.ts";
import type { Outcome } from "../output.ts";
import { failure, shown } from "../output.ts";

/** Node's longest timer: whoever watches ends it, or the daemon does. */
const watchMsMax = 2 ** 31 - 1;

/** Cards that wait for an answer here; older ones stay open in the daemon until they expire. */
const cardsMax = 200;

const choices: Readonly<Record<string, string>> = { y: "once", v: "value", n: "refuse" };

export async function watch(asJson: boolean): Promise<Outcome> {
  const open = new Map<string, Json>();
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const onPart = (card: Json): void => {
    const notice = stringMember(card, "notice");
    if (notice !== undefined) return say(asJson ? JSON.stringify(card) : shown(notice, 240));
    const withdrawn = stringMember(card, "withdrawn");
    if (withdrawn !== undefined) {
      // An answer without an id is for the oldest open card: it must not meet one that was answered elsewhere.
      if (!open.delete(withdrawn)) return;
      return say(asJson ? JSON.stringify(card) : `${shown(withdrawn)}: answered in the client.`);
    }
    const id = stringMember(card, "id");
    if (id === undefined) return;
    const oldest = open.size >= cardsMax ? open.keys().next() : undefined;
    if (oldest?.done === false) open.delete(oldest.value);
    open.set(id, card);
    say(asJson ? JSON.stringify(card) : cardText(id, card));
  };
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => void answer(line, open).then((said) => say(asJson ? JSON.stringify(said) : said.text)));
  if (!asJson) say("Watching. Answer with y (approve once), v (trust this value) or n (refuse); Ctrl-C ends.");
  const ended = await askDaemon({ kind: "approve-watch" }, { waitMsMax: watchMsMax, onPart });
  input.close();
  if (ended.ok) return { exitCode: 0, json: undefined, text: "" };
  if (ended.error.absent) return failure(ended.error.code, ended.error.sentence);
  return failure(
    "SG-DAEMON-GONE",
    "The daemon ended, so nothing is watched any more: start `sluicegate approve --watch` again.",
  );
}

async function answer(line: string, open: Map<string, Json>): Promise<{ readonly ok: boolean; readonly text: string }> {
  const [word = "", given] = line.trim().split(/\s+/);
  const choice = Object.hasOwn(choices, word) ? choices[word] : undefined;
  const oldest = open.keys().next();
  const id = given ?? (oldest.done === true ? undefined : oldest.value);
  if (choice === undefined)
    return { ok: false, text: "Answer with y, v or n, and the id if more than one call waits." };
  if (id === undefined) return { ok: false, text: "Nothing waits for consent." };
  const ruled = await askDaemon({ kind: "approve", id, choice });
  if (!ruled.ok) return { ok: false, text: ruled.error.sentence };
  open.delete(id);
  return { ok: true, text: choice === "refuse" ? `${shown(id)}: refused.` : `${shown(id)}: approved.` };
}

/** Everything on a card may come from a model or a server, so nothing of it reaches the terminal unescaped. */
function cardText(id: string, card: Json): string {
  const lines = member(card, "lines");
  const reasons = (isArray(lines) ? lines : []).map(
    (line) => `    ${shown(typeof line === "string" ? line : "", 400)}`,
  );
  const given = `    arguments: ${shown(stringMember(card, "arguments") ?? "", 2_000)}`;
  return [`${shown(id)}  ${shown(stringMember(card, "title") ?? "")}`, ...reasons, given].join("\n");
}
