/**
 * `sluicegate approve --watch`: each call is shown as it comes and answered while its client waits, by lines on standard
 * input: `y` once, `v` the value, `n` refuse, each for the oldest open card or with its id.
 */
import { createInterface } from "node:readline";
import { type Request, readWatched } from "../../app/gateway/control-contract.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { shown } from "../../app/state/sentences.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { type Json, stringMember } from "../../core/json.ts";
import { askDaemon } from "../control-client.ts";
import { askProven } from "../proven.ts";

/** Node's longest timer: the watcher ends it, or the daemon does. */
const watchMsMax = 2 ** 31 - 1;

/** Cards that wait for an answer here, by id: false where one cannot be read, so that it can only be refused. */
type OpenCards = Map<string, boolean>;

/** Older ones stay open in the daemon until they expire. */
const cardsMax = 200;

const choices: Readonly<Record<string, Request<"approve">["choice"]>> = { y: "once", v: "value", n: "refuse" };

export async function watch(asJson: boolean): Promise<Outcome> {
  const open: OpenCards = new BoundedMap<string, boolean>(cardsMax);
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const onPart = (part: Json): void => {
    const text = partText(part, open);
    if (text !== undefined) say(asJson ? JSON.stringify(part) : text);
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

/** A part of the watch in words; undefined where there is nothing to show. */
export function partText(part: Json, open: OpenCards): string | undefined {
  const read = readWatched(part);
  if (!read.ok) return unreadableText(stringMember(part, "id"), open);
  const { notice, withdrawn, id, title, lines, arguments: given } = read.value;
  if (notice !== undefined) return shown(notice, 240);
  // An answer without an id is for the oldest open card: it must not meet one that was answered elsewhere.
  if (withdrawn !== undefined)
    return open.delete(withdrawn) ? `${shown(withdrawn)}: answered in the client.` : undefined;
  if (id === undefined) return undefined;
  if (title === undefined || lines === undefined || given === undefined) return unreadableText(id, open);
  open.set(id, true);
  // Everything on a card may come from a model or a server, so nothing of it reaches the terminal unescaped.
  const reasons = lines.map((line) => `    ${shown(line, 400)}`);
  return [`${shown(id)}  ${shown(title)}`, ...reasons, `    arguments: ${shown(given, 2_000)}`].join("\n");
}

const versions = "The daemon and this command may be of different versions: run `sluicegate daemon stop`, then repeat.";

function unreadableText(id: string | undefined, open: OpenCards): string {
  if (id === undefined) return `A message of the daemon cannot be read. ${versions}`;
  open.set(id, false);
  return `${shown(id)}  This card cannot be read.\n    It can only be refused: \`n ${shown(id)}\`. ${versions}`;
}

export async function answer(line: string, open: OpenCards): Promise<{ readonly ok: boolean; readonly text: string }> {
  const [word = "", given] = line.trim().split(/\s+/);
  const choice = Object.hasOwn(choices, word) ? choices[word] : undefined;
  const oldest = open.keys().next();
  const id = given ?? (oldest.done === true ? undefined : oldest.value);
  if (choice === undefined)
    return { ok: false, text: "Answer with y, v or n, and the id if more than one call waits." };
  if (id === undefined) return { ok: false, text: "Nothing waits for consent." };
  if (choice !== "refuse" && open.get(id) === false) {
    return {
      ok: false,
      text: `The card of ${shown(id)} cannot be read, so it can only be refused: \`n ${shown(id)}\`.`,
    };
  }
  const ruled = await askProven({ kind: "approve", id, choice }, { elsewhere: true });
  if (!ruled.ok) return { ok: false, text: ruled.error.sentence };
  open.delete(id);
  return { ok: true, text: choice === "refuse" ? `${shown(id)}: refused.` : `${shown(id)}: approved.` };
}
