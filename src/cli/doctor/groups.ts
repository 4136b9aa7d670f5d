/** The check of which servers share a run: restrictions of one hold for the others, permissions do not. */
import { ask } from "../../adapters/daemon/connect.ts";
import { askWaitMsMax } from "../../adapters/daemon/daemon-limits.ts";
import type { DaemonPaths } from "../../adapters/daemon/paths.ts";
import { ownVersion } from "../../adapters/daemon/version.ts";
import { type RunView, readReply } from "../../app/gateway/control-contract.ts";
import { shown } from "../../app/state/sentences.ts";
import { type Check, noted, passed } from "./check.ts";

/** One check for each run that serves clients now; none where no daemon runs. */
export async function checkGroups({ socket }: DaemonPaths): Promise<readonly Check[]> {
  const answer = await ask(socket, { kind: "runs" }, { version: ownVersion(), waitMsMax: askWaitMsMax });
  const reply = answer.ok ? readReply("runs", answer.value) : answer;
  return reply.ok ? groupChecks(reply.value.runs) : [];
}

/** The sentences about the runs that are open. Runs of several processes without a hook may be one client's. */
export function groupChecks(runs: readonly Pick<RunView, "run" | "servers">[]): readonly Check[] {
  const serving = runs.filter(({ servers = [] }) => servers.length > 0);
  const checks = serving.map(({ run, servers = [] }) =>
    passed("runs", `The servers ${shown(servers.join(", "), 120)} share the run ${shown(run, 120)}.`),
  );
  const unnamed = serving.filter(({ run }) => /\/process:\d+@\d*$/.test(run));
  if (unnamed.length < 2) return checks;
  const sentence = `${unnamed.length} client processes have no hook that names their conversation, so what restricts one restricts all: close clients that you do not use, or set hooks (docs/hooks.md).`;
  return [...checks, noted("runs", sentence)];
}
