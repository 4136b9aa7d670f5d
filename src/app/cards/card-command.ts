/** The command that answers the card of a server, as sentences offer it. */
import { shellWord } from "../state/sentences.ts";

/** A name that begins like an option would be one: `--yes-reads` answers other cards. */
export function cardCommand(server: string, option?: "--forget" | "--review"): string {
  const name = shellWord(server);
  const isPlain = name === server && !server.startsWith("-");
  if (isPlain) return ["sluicegate cards", name, ...(option === undefined ? [] : [option])].join(" ");
  return ["sluicegate cards", ...(option === undefined ? [] : [option]), "--", name].join(" ");
}
