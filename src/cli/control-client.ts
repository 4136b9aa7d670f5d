/** Asks the running daemon something, and says in one sentence when none runs. */
import { ask } from "../adapters/daemon/connect.ts";
import { askWaitMsMax } from "../adapters/daemon/limits.ts";
import { daemonPaths } from "../adapters/daemon/paths.ts";
import { ownVersion } from "../adapters/daemon/version.ts";
import type { Json } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import { err } from "../core/result.ts";

export type ControlFailure = { readonly code: string; readonly sentence: string; readonly absent: boolean };

export type AskWay = { readonly waitMsMax?: number; readonly onPart?: (value: Json) => void };

export async function askDaemon(request: Json, way: AskWay = {}): Promise<Result<Json, ControlFailure>> {
  const paths = daemonPaths(process.env);
  if (!paths.ok) return err({ code: "SG-DAEMON-FOLDER", sentence: paths.error, absent: false });
  const answer = await ask(paths.value.socket, request, { version: ownVersion(), waitMsMax: askWaitMsMax, ...way });
  if (answer.ok) return answer;
  if (answer.error.kind === "unreachable") {
    const absent = answer.error.code === "ENOENT" || answer.error.code === "ECONNREFUSED";
    const sentence = absent
      ? "No daemon is running, so nothing is guarded now: it starts with the first `sluicegate run -- CMD`."
      : `The daemon cannot be reached (${answer.error.code}): try \`sluicegate daemon stop\`, then repeat.`;
    return err({ code: absent ? "SG-DAEMON-ABSENT" : "SG-DAEMON-UNREACHABLE", sentence, absent });
  }
  return err({ code: "SG-DAEMON-REFUSED", sentence: answer.error.refused, absent: false });
}
