/** Asks the running daemon something, and says in one sentence when none runs. */
import { ask } from "../adapters/daemon/connect.ts";
import { askWaitMsMax } from "../adapters/daemon/daemon-limits.ts";
import { daemonPaths } from "../adapters/daemon/paths.ts";
import { ownVersion } from "../adapters/daemon/version.ts";
import { type Json, isArray, isObject, member } from "../core/json.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type Outcome, failure } from "../app/state/outcome.ts";
import { type Reply, type Request, type RequestKind, readReply } from "../app/gateway/control-contract.ts";
import { gatewaySockets } from "../app/gateway/gateway-sockets.ts";

export type ControlFailure = { readonly code: string; readonly sentence: string; readonly absent: boolean };

export type AskWay = {
  readonly waitMsMax?: number;
  readonly onPart?: (value: Json) => void;
  /** The daemon alone, not the gateways in the foreground. */
  readonly daemonOnly?: boolean;
};

/** A reply as it came, for `--json`, and as it was read. */
export type Answered<K extends RequestKind> = { readonly json: Json; readonly reply: Reply<K> };

/**
 * Asks whatever guards this user now: the daemon behind the shims, and gateways in the foreground. Lists of all answers
 * are joined; what only one of them knows, such as an approval, is answered by that one.
 */
export async function askDaemon<K extends RequestKind>(
  request: Request<K>,
  way: AskWay = {},
): Promise<Result<Answered<K>, ControlFailure>> {
  const paths = daemonPaths(process.env);
  if (!paths.ok) return err({ code: "SG-DAEMON-FOLDER", sentence: paths.error, absent: false });
  const others = way.daemonOnly === true ? [] : gatewaySockets(paths.value.runtime);
  const sockets = [paths.value.socket, ...others];
  const answers = await Promise.all(sockets.map((socket) => askOne(socket, request, way)));
  const known = answers.filter((answer) => answer.ok).map((answer) => answer.value);
  if (known.length > 0) {
    const json = known.reduce(joined);
    const reply = readReply<K>(request.kind, json);
    if (reply.ok) return ok({ json, reply: reply.value });
    return err({ code: "SG-DAEMON-REFUSED", sentence: reply.error, absent: false });
  }
  const failures = answers.flatMap((answer) => (answer.ok ? [] : [answer.error]));
  const failure = failures.find((one) => !one.absent) ?? failures[0];
  return err(failure ?? { code: "SG-DAEMON-ABSENT", sentence: absentSentence, absent: true });
}

const absentSentence =
  "No daemon is running, so nothing is guarded now: it starts with the first `sluicegate run -- CMD`.";

async function askOne(
  socket: string,
  request: Json,
  { daemonOnly: _daemonOnly, ...way }: AskWay,
): Promise<Result<Json, ControlFailure>> {
  const answer = await ask(socket, request, { version: ownVersion(), waitMsMax: askWaitMsMax, ...way });
  if (answer.ok) return answer;
  if (answer.error.kind === "unreachable") {
    const absent = answer.error.code === "ENOENT" || answer.error.code === "ECONNREFUSED";
    const sentence = absent
      ? absentSentence
      : `The daemon cannot be reached (${answer.error.code}): try \`sluicegate daemon stop\`, then repeat.`;
    return err({ code: absent ? "SG-DAEMON-ABSENT" : "SG-DAEMON-UNREACHABLE", sentence, absent });
  }
  return err({ code: "SG-DAEMON-REFUSED", sentence: answer.error.refused, absent: false });
}

/** Two answers as one: lists behind each other, everything else from the first. */
function joined(left: Json, right: Json): Json {
  if (!isObject(left) || !isObject(right)) return left;
  const both = Object.entries({ ...right, ...left }).map(([name, value]): [string, Json] => {
    const other = member(right, name);
    return [name, isArray(value) && isArray(other) && other !== value ? [...value, ...other] : value];
  });
  return Object.fromEntries(both);
}

/** An answer as the outcome of a command; `absent` is the JSON where nothing runs, which is then not a failure. */
export function outcomeOf<K extends RequestKind>(
  answer: Result<Answered<K>, ControlFailure>,
  text: (reply: Reply<K>) => string,
  absent?: Json,
): Outcome {
  if (answer.ok) return { exitCode: 0, json: answer.value.json, text: text(answer.value.reply) };
  if (answer.error.absent && absent !== undefined) return { exitCode: 0, json: absent, text: answer.error.sentence };
  return failure(answer.error.code, answer.error.sentence);
}
