/** Arguments of `run`, read without the command-line framework: a shim must stay as small as bare Node. */
import { type Result, err, ok } from "../../core/result.ts";
import { serverRule, serverShape, tagShape } from "../../app/policy/names.ts";

export type RunArguments = {
  readonly policy?: string;
  readonly server?: string;
  /** The tag for `match: {tag}` of the user's policies. */
  readonly tag?: string;
  /** Gateway inside this process, with a state of its own: for places where no daemon can run. */
  readonly solo: boolean;
  readonly command: readonly [string, ...string[]];
};

export const runUsage = "sluicegate run [--policy P | --tag T] [--server NAME] [--solo] -- CMD [ARGUMENT...]";

/** Reads everything before `--`; what follows is the server's and is not looked at. Errors are sentences. */
export function parseRunArguments(words: readonly string[]): Result<RunArguments, string> {
  const dashes = words.indexOf("--");
  const own = dashes < 0 ? words : words.slice(0, dashes);
  const [command, ...rest] = dashes < 0 ? [] : words.slice(dashes + 1);
  const options: { policy?: string; server?: string; tag?: string; solo: boolean } = { solo: false };
  for (let index = 0; index < own.length; index += 1) {
    const word = own[index] ?? "";
    const equals = word.indexOf("=");
    const name = equals < 0 ? word : word.slice(0, equals);
    if (name === "--solo" && equals < 0) {
      options.solo = true;
      continue;
    }
    if (name !== "--policy" && name !== "--server" && name !== "--tag") {
      return err(`\`${word.slice(0, 60)}\` is not an option of \`run\`. Use: ${runUsage}`);
    }
    const value = equals < 0 ? own[(index += 1)] : word.slice(equals + 1);
    if (value === undefined || value === "") return err(`\`${name}\` needs a value. Use: ${runUsage}`);
    if (name === "--policy") options.policy = value;
    else if (name === "--server") options.server = value;
    else options.tag = value;
  }
  const { policy, tag, server } = options;
  if (server !== undefined && !serverShape.test(server)) return err(`\`--server\` ${serverRule}. Use: ${runUsage}`);
  if (tag !== undefined && !tagShape.test(tag))
    return err(`\`--tag\` must be a name of 1-64 of a-z A-Z 0-9 . _ -. Use: ${runUsage}`);
  if (tag !== undefined && policy !== undefined)
    return err(`\`--policy\` names the policy, and \`--tag\` lets the policies' \`match\` choose. Use: ${runUsage}`);
  if (command === undefined || command === "")
    return err(`\`run\` needs a server command after \`--\`. Use: ${runUsage}`);
  return ok({ ...options, command: [command, ...rest] });
}
