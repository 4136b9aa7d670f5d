/** `bench friction`: honest work with published servers, direct and through the gateway, call by call. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { usualVariables } from "../../../app/gateway/config.ts";
import { textOf } from "../../../app/client/mcp-client.ts";
import { type Json, type JsonObject, isArray, member } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { type Configuration, readingsOf } from "./configurations.ts";
import { type HandServer } from "../labels/hand-labels.ts";
import { type FactCount, countFacts } from "../labels/wrong-facts.ts";
import { type Fake, openFake } from "./fake.ts";
import { serverProgram } from "./package-cache.ts";
import { type Places, type Played, placed, play } from "./play.ts";
import type { FrictionScenario } from "./friction-scenario.ts";
import { type CardWord, type Command, type Way, directWay, guardedWay } from "./ways.ts";

/** A call behind the gateway; `same` is undefined where two direct runs already differ. */
export type FrictionCallRow = Omit<Played, "answer"> & { readonly same: boolean | undefined };

export type FrictionRow = {
  readonly server: string;
  readonly package: string;
  readonly reach: FrictionScenario["reach"];
  readonly configuration: string;
  /** Why nothing could be played. */
  readonly broken?: string;
  /** From the command, or from the new session, to the first list of tools. */
  readonly startMs?: number;
  readonly calls: readonly FrictionCallRow[];
};

/** Facts that an operator gave authority to without reading them. */
export type AcceptedFacts = FactCount & { readonly configuration: string };

export type FrictionBench = {
  readonly accepted: readonly AcceptedFacts[];
  readonly rows: readonly FrictionRow[];
  /** Requests that a fake did not know: its table is incomplete. */
  readonly unknown: readonly string[];
};

export type FrictionOptions = {
  readonly labels: ReadonlyMap<string, HandServer>;
  readonly cache: string;
  readonly configurations: readonly Configuration[];
  /** One line when a server is done. */
  readonly tell: (line: string) => void;
};

export async function frictionBench(
  scenarios: readonly FrictionScenario[],
  options: FrictionOptions,
): Promise<FrictionBench> {
  const rows: FrictionRow[] = [];
  const readings = new Map<string, Json[]>();
  const unknown: string[] = [];
  // In small letters: some servers change the case of paths.
  const folder = join(tmpdir(), `sg-friction-${randomBytes(4).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  try {
    for (const scenario of scenarios) {
      const stage = await openStage(scenario, options.cache, folder);
      const made = stage.ok
        ? await ofServer(stage.value, options, readings)
        : [broken(scenario, "direct", stage.error)];
      if (stage.ok) {
        unknown.push(...(stage.value.fake?.unknown() ?? []).map((one) => `${scenario.name}: ${one}`));
        stage.value.fake?.close();
      }
      rows.push(...made);
      options.tell(`${scenario.name}: ${made.map(lineOf).join("; ")}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  const accepted = [...readings].map(([configuration, all]) => ({ configuration, ...countFacts(all, options.labels) }));
  return { rows, accepted, unknown };
}

function lineOf({ configuration, broken: why, calls }: FrictionRow): string {
  if (why !== undefined) return `${configuration} not played, ${why}`;
  const asked = calls.filter((one) => one.questions > 0).length;
  return `${configuration} ${asked}/${calls.length}`;
}

function broken({ name, package: spec, reach }: FrictionScenario, configuration: string, why: string): FrictionRow {
  return { server: name, package: spec, reach, configuration, broken: why, calls: [] };
}

type Stage = {
  readonly scenario: FrictionScenario;
  readonly program: string;
  readonly fake: Fake | undefined;
  readonly folder: string;
  readonly places: Places;
};

async function openStage(scenario: FrictionScenario, cache: string, base: string): Promise<Result<Stage, string>> {
  const program = await serverProgram(scenario, cache);
  if (!program.ok) return program;
  const folder = join(base, scenario.name);
  const fake = scenario.fake === undefined ? undefined : await openFake(scenario.fake);
  const at = fake === undefined ? {} : { FAKE: `127.0.0.1:${fake.port}` };
  const places = { WORKSPACE: join(folder, "workspace"), HOME: join(folder, "home"), ...at };
  return ok({ scenario, program: program.value, fake, folder, places });
}

/** Plays a server in every way; what a policy accepts is added to `readings`, by configuration. */
async function ofServer(
  stage: Stage,
  { configurations, labels }: FrictionOptions,
  readings: Map<string, Json[]>,
): Promise<readonly FrictionRow[]> {
  const first = await played(stage, undefined, (command) => directWay(command));
  if (!first.ok) return [broken(stage.scenario, "direct", first.error)];
  const second = await played(stage, undefined, (command) => directWay(command));
  const again = second.ok ? second.value.calls : [];
  const steady = first.value.calls.map((one, index) => (one.answer === again[index]?.answer ? one.answer : undefined));
  const rows = [rowOf(stage.scenario, "direct", first.value, steady)];
  const server = stage.scenario.name;
  const target = { server, tools: first.value.tools, hand: labels.get(server) };
  for (const [index, configuration] of configurations.entries()) {
    const policy = reachingFake(configuration.policy(target), stage);
    const guard = {
      folder: join(stage.folder, `gateway-${index}`),
      server,
      policy,
      instruction: configuration.instructed ? stage.scenario.instruction : undefined,
    };
    const done = await played(stage, configuration.card, (command) => guardedWay(command, guard));
    const accepted = [...readingsOf(policy), ...(done.ok ? done.value.readings : [])];
    if (accepted.length > 0)
      readings.set(configuration.name, [...(readings.get(configuration.name) ?? []), ...accepted]);
    rows.push(
      done.ok
        ? rowOf(stage.scenario, configuration.name, done.value, steady)
        : broken(stage.scenario, configuration.name, done.error),
    );
  }
  return rows;
}

/** The scope that an isolated server of this machine needs for its fake, as it would need one for the real service. */
function reachingFake(policy: JsonObject, { scenario, fake }: Stage): JsonObject {
  if (fake === undefined || member(policy, "isolation") !== undefined) return policy;
  const scope = { net: { allow: [`127.0.0.1:${fake.port}`] }, files: { read: [redirectFile] } };
  return { ...policy, isolation: { backend: "where-possible", servers: { [scenario.name]: scope } } };
}

type Done = {
  readonly startMs: number;
  readonly tools: readonly Json[];
  /** What the answer to the card accepted. */
  readonly readings: readonly Json[];
  readonly calls: readonly Played[];
};

function rowOf(
  { name, package: spec, reach }: FrictionScenario,
  configuration: string,
  { startMs, calls }: Done,
  steady: readonly (string | undefined)[],
): FrictionRow {
  const rows = calls.map(({ answer, ...one }, index): FrictionCallRow => {
    const expected = steady[index];
    return { ...one, same: expected === undefined ? undefined : answer === expected };
  });
  return { server: name, package: spec, reach, configuration, startMs, calls: rows };
}

type Opening = (command: Command) => Promise<Result<Way, string>>;

/** Plays the scenario once, in a workspace made anew. */
async function played(stage: Stage, card: CardWord | undefined, open: Opening): Promise<Result<Done, string>> {
  const prepared = prepare(stage);
  if (!prepared.ok) return prepared;
  const way = await open(prepared.value);
  if (!way.ok) return err(way.error);
  try {
    const listed = await way.value.ask("tools/list", {});
    if (!listed.ok) return listed;
    if (listed.value.failed) return err(`its tools cannot be listed: ${textOf(listed.value).slice(0, 200)}`);
    const startMs = performance.now() - way.value.from;
    const tools = member(listed.value.value, "tools");
    const answered = card === undefined ? ok([]) : await way.value.acceptCard(card);
    // A card on which nothing can be accepted stays open: its calls ask, as they would for a user.
    const readings = answered.ok ? answered.value : [];
    const calls = await play(stage.scenario, way.value, stage.places);
    return ok({ startMs, tools: isArray(tools) ? tools : [], readings, calls });
  } finally {
    await way.value.close();
  }
}

const setupMsMax = 60_000;

function prepare({ scenario, program, fake, places }: Stage): Result<Command, string> {
  const { WORKSPACE: workspace = "", HOME: home = "" } = places;
  for (const one of [workspace, home]) {
    rmSync(one, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    mkdirSync(one, { recursive: true });
  }
  fake?.reset();
  for (const [name, text] of Object.entries(scenario.files)) {
    const file = join(workspace, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, placed(text, places));
  }
  // The variables that a gateway passes on: a server that looks at them must find the same in both ways.
  const passed = usualVariables.flatMap((name): readonly [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const usual = { ...Object.fromEntries(passed), HOME: home, TZ: "UTC" };
  try {
    for (const [command = "", ...args] of scenario.setup)
      execFileSync(command === "node" ? process.execPath : command, args, {
        cwd: workspace,
        env: usual,
        timeout: setupMsMax,
        stdio: "ignore",
      });
  } catch (cause) {
    return err(
      `its workspace cannot be prepared (${cause instanceof Error ? cause.message.slice(0, 120) : "unknown"})`,
    );
  }
  const own = Object.entries(scenario.env).map(([key, value]): [string, string] => [key, placed(value, places)]);
  const env = { ...usual, ...redirection(scenario, fake), ...Object.fromEntries(own) };
  const args = [program, ...scenario.args.map((one) => placed(one, places))];
  return ok({ command: process.execPath, args, env, workspace });
}

const ownFile = fileURLToPath(import.meta.url);
const redirectFile = join(dirname(ownFile), `redirect${extname(ownFile)}`);

/** Variables by which a server's requests to the hosts of its fake reach this machine. */
function redirection({ fake: spec }: FrictionScenario, fake: Fake | undefined): Readonly<Record<string, string>> {
  if (spec === undefined || fake === undefined || spec.hosts.length === 0) return {};
  return {
    NODE_OPTIONS: `--import=${redirectFile}`,
    FRICTION_HOSTS: JSON.stringify({ hosts: spec.hosts, port: fake.port }),
  };
}
