// Launches one server as whoever runs this, and tells as one line of JSON what came of it. Argument: an order as JSON.
import { launch } from "../../../src/adapters/projection/launch/launch.ts";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { defaultTransportLimits } from "../../../src/adapters/net/net-limits.ts";
import { type LaunchCase, scopeOf } from "./launch-case.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own test wrote it
const given = JSON.parse(process.argv[2] ?? "{}") as LaunchCase;
const found = await probeSupport();
const without = new Set<string>(given.without ?? []);
const programs = Object.fromEntries(Object.entries(found.programs).filter(([name]) => !without.has(name)));
const koffi = found.koffi && !without.has("koffi");
const landlock = without.has("landlock") ? 0 : found.landlock;
const cgroup = without.has("cgroup") ? "none" : found.cgroup;
const launched = await launch({
  target: {
    kind: "stdio",
    command: given.command,
    args: given.args,
    env: { PATH: process.env["PATH"] ?? "", ...given.env },
    workingDirectory: given.workspace,
  },
  order: {
    server: "test",
    mode: given.order ?? "auto",
    require: given.require ?? "none",
    scope: scopeOf(given),
    digest: "test",
  },
  stateFolder: given.stateFolder,
  workspace: [given.workspace],
  home: given.home,
  limits: { ...defaultTransportLimits, stopGraceMs: 200 },
  support: { ...found, programs, koffi, landlock, cgroup },
});
if (!launched.ok) {
  console.log(JSON.stringify({ error: launched.error }));
  process.exit(0);
}
const { process: server, tier, notes, tracer, broker, workspace, limits } = launched.value;
let output = "";
server.stdout.setEncoding("utf8").on("data", (part: string) => (output += part));
if (given.input !== undefined) server.stdin.write(given.input);
const waited = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), given.killAfterMs ?? 20_000));
await Promise.race([server.ended, waited]);
const changes = await workspace?.changes();
const traced = tracer?.drain();
const acts = traced?.filter(({ action, outcome }) => action !== "file-read" || outcome === "denied");
const seen = {
  tracer: traced?.length,
  lost: tracer?.lost,
  acts: acts?.map(({ action, outcome, path, program }) => `${action} ${outcome} ${path ?? program}`),
  broker: broker?.drain(),
  limits: limits?.drain().map(({ detail }) => detail),
  changes: changes?.ok === true ? changes.value.map(({ path, kind }) => `${kind} ${path}`) : changes?.error,
};
launched.value.kill();
const end = await server.ended;
await workspace?.close();
tracer?.close();
broker?.close();
limits?.close();
console.log(JSON.stringify({ tier, notes, output, end, group: server.processGroup, ...seen }));
process.exit(0);
