/**
 * `run --solo`: the gateway inside the shim's own process, for a container or a read-only home where no daemon can run.
 * Labels then cover this one server only, and a notice says so at every start.
 */
import { Duplex } from "node:stream";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { identify, killGroup } from "../../adapters/daemon/process-identity.ts";
import type { RunHello, ProcessIdentity } from "../../adapters/daemon/protocol.ts";
import { flushMsMax } from "../../adapters/daemon/daemon-limits.ts";
import { boundedWriter } from "../../adapters/net/bounded-writer.ts";
import type { Host } from "./host.ts";
import { say } from "./session.ts";

export async function runSolo(hello: RunHello, host: Host): Promise<number> {
  const home = stateHome(process.env);
  const openServices = await host.loadServices();
  const services = await openServices(home);
  if (!services.ok) return fail(services.error);
  const groups: ProcessIdentity[] = [];
  const opened = await services.value.open(
    { ...hello, home },
    {
      stderr: boundedWriter(process.stderr),
      processGroup: (leader) => void groups.push(leader.startedAt === "" ? identify(leader.pid) : leader),
    },
  );
  if (!opened.ok) return fail(opened.error);
  say("running solo: labels and limits cover this server only. `sluicegate doctor` explains.");
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      opened.value.signal(name);
      void opened.value.close(`the client sent ${name}`);
    });
  }
  process.stdout.on("error", () => void opened.value.close("the client is gone"));
  opened.value.attach(Duplex.from({ readable: process.stdin, writable: process.stdout }));
  const end = await opened.value.ended;
  if (end.sentence !== "") say(end.sentence);
  await services.value.close();
  for (const group of groups) killGroup(group, "SIGKILL");
  await new Promise<void>((resolve) => {
    setTimeout(resolve, flushMsMax);
    process.stdout.write("", () => resolve());
  });
  return end.exitCode;
}

function fail(sentence: string): number {
  say(sentence);
  return 2;
}
