/** `sluicegate approve [ID]`: shows what waits for consent, and gives it, to exactly one call. */
import type { Command } from "commander";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import { askDaemon } from "../control-client.ts";
import type { Outcome } from "../output.ts";
import { acts, failure, shown } from "../output.ts";
import { watch } from "./approve-watch.ts";

export function register(program: Command): void {
  const command = program
    .command("approve [id]")
    .description("show what waits for consent, or consent to one call")
    .option("--value", "endorse the value in question for the rest of the run, instead of this call alone")
    .option("--refuse", "refuse instead")
    .option("--watch", "show calls as they come, and answer them while the client waits");
  acts(command, (options, id?: string) => approve(id, options));
}

async function approve(id: string | undefined, options: Readonly<Record<string, unknown>>): Promise<Outcome> {
  if (options["value"] === true && options["refuse"] === true) {
    return failure("SG-USAGE", "`--value` and `--refuse` exclude each other: give one of them.");
  }
  if (options["watch"] === true) {
    if (id !== undefined) return failure("SG-USAGE", "`--watch` takes no id: answer with y, v or n when a call comes.");
    return watch(options["json"] === true);
  }
  if (id === undefined) {
    const word = options["value"] === true ? "value" : options["refuse"] === true ? "refuse" : undefined;
    if (word === undefined) return pending();
    return failure("SG-USAGE", `\`--${word}\` needs the id of a call: \`sluicegate approve\` lists them.`);
  }
  const choice = options["refuse"] === true ? "refuse" : options["value"] === true ? "value" : "once";
  const answer = await askDaemon({ kind: "approve", id, choice });
  if (!answer.ok) return failure(answer.error.code, answer.error.sentence);
  const done = choice === "refuse" ? "Refused." : "Approved: repeat the same call within its time.";
  return { exitCode: 0, json: answer.value, text: done };
}

/** Characters of the arguments in the list; the card itself holds little more. */
const argumentsShownMax = 4_000;

async function pending(): Promise<Outcome> {
  const answer = await askDaemon({ kind: "approvals" });
  if (!answer.ok) {
    if (!answer.error.absent) return failure(answer.error.code, answer.error.sentence);
    return { exitCode: 0, json: { approvals: [] }, text: answer.error.sentence };
  }
  const found = member(answer.value, "approvals");
  const cards = isArray(found) ? found : [];
  const text = cards.map((card) => {
    const lines = member(card, "lines");
    const shownLines = (isArray(lines) ? lines : []).map(
      (line) => `    ${shown(typeof line === "string" ? line : "", 400)}`,
    );
    const head = `${stringMember(card, "id") ?? ""}  ${shown(stringMember(card, "title") ?? "")}${standing(card)}`;
    const given = `    with ${shown(stringMember(card, "arguments") ?? "", argumentsShownMax)}`;
    return [head, given, ...shownLines].join("\n");
  });
  return { exitCode: 0, json: answer.value, text: text.length === 0 ? "Nothing waits for consent." : text.join("\n") };
}

/** What became of it; nothing for a call that still waits. */
function standing(card: Json): string {
  const status = stringMember(card, "status") ?? "pending";
  if (status === "pending") return "";
  const until = (stringMember(card, "expires") ?? "").slice(11, 16);
  return `  (${shown(status, 20)}, until ${until} UTC)`;
}
