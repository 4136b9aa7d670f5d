/**
 * Puts the parts of a running gateway together: keys, log, policies, and the enforcement point itself. Everything that
 * differs between a daemon and a gateway from a configuration file is handed in.
 */
import { randomBytes } from "node:crypto";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { ownVersion } from "../../adapters/daemon/version.ts";
import { readLogMemory } from "../../adapters/keys/log-memory.ts";
import { openKeys } from "../../adapters/keys/sealing.ts";
import { openSqliteStore } from "../../adapters/store/sqlite.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { distrustRuns } from "../../gateway/runs/distrusted-runs.ts";
import type { ClientProcesses, Clock, Services } from "../../gateway/ports/services.ts";
import { Gateway, type GatewaySetup } from "../../gateway/session/gateway.ts";
import { openEventLog } from "../../gateway/log/event-log.ts";
import type { Connector } from "../../gateway/ports/transport.ts";
import type { EventLog, LogKeys, Store } from "../../gateway/ports/store.ts";
import { clearLeftovers } from "../state/leftovers.ts";
import { goOnFrom, nodeClock, nodeSecrets } from "../state/node-services.ts";
import { PolicyOracles } from "../oracles/oracles.ts";
import { type LostHistory, lostHistory, rememberLoss } from "../state/lost-history.ts";
import { logHome, logIsThere, logPlaces, missingKeys } from "../state/log-files.ts";
import { type RetentionSetup, destroyOldKeys, logRetention } from "../state/log-retention.ts";
import { type LogTrust, keysOlder, logTrust } from "../state/log-trust.ts";
import { protectedInstallation } from "../state/self-protection.ts";
import { type MoreMechanisms, type PolicyOptions, PolicyFiles } from "../policy/policy-files.ts";
import { isolationTiers } from "../../core/isolation/scope.ts";
import { AcceptedReadings } from "../cards/accepted-readings.ts";
import { today } from "../policy/policy-source.ts";
import { CardDesk } from "../cards/card-desk.ts";
import { CardFiles } from "../cards/card-files.ts";
import { TrialDesk } from "../cards/trials/trial-desk.ts";
import { TrialFiles } from "../cards/trials/trial-files.ts";
import { isWorkFolder } from "./work-folder.ts";
import { type FactorDesk, openFactors } from "../factors/factor-desk.ts";
import { Waiters } from "./waiters.ts";

/** How often idle runs are ended, and the head of the log is signed. */
const houseKeepingMs = 60_000;

/** How often a log that cannot be written is tried again: the user may have freed the disk. */
const recoverEveryMs = 2_000;

export type Composition = {
  readonly gateway: Gateway;
  readonly log: EventLog;
  readonly policies: PolicyFiles;
  readonly waiters: Waiters;
  readonly lost: LostHistory;
  readonly factors: FactorDesk;
  readonly cards: CardDesk;
  /** Whether the log can be believed. */
  readonly trust: Pick<LogTrust, "broken">;
  readonly close: () => Promise<void>;
};

export type CompositionSetup = {
  /** State folder: it contains the log and its keys. */
  readonly home: string;
  /** Policy files that `match` selects from; none = the default policy. The first one's settings hold for the log. */
  readonly policies: readonly string[];
  /** The current list, where it can change while the gateway runs. */
  readonly policiesWanted?: () => readonly string[];
  readonly connector: Connector;
  readonly servers: GatewaySetup["servers"];
  readonly tagOf: NonNullable<GatewaySetup["tagOf"]>;
  /** Tag of every connection that has none of its own. */
  readonly tag?: string | undefined;
  /** Files beside the policies that say what this gateway does. */
  readonly configuration?: readonly string[];
  /** What the system says about the processes of clients; without it no run ends with its client. */
  readonly clients?: ClientProcesses;
  /** One line for the operator. */
  readonly tell: (text: string) => void;
  /** Mechanisms beside those of the policy. */
  readonly more?: MoreMechanisms;
  /** The time; that of the machine unless a test has its own. */
  readonly clock?: Clock;
};

/** Opens everything; the error is a sentence for the user, and nothing is left open. */
export async function compose(setup: CompositionSetup): Promise<Result<Composition, string>> {
  const deciding = decidingParts(setup);
  const { oracle, policies, readings } = deciding;
  const cards = cardDesk(deciding, () => gateway);
  const failed = (sentence: string): Result<never, string> => {
    deciding.close();
    return err(sentence);
  };
  const policy = policies.openAll();
  if (!policy.ok) return failed(policy.error);
  const places = logPlaces(setup.home);
  const gone = missingKeys(setup.home);
  if (gone !== undefined) return failed(gone);
  const keys = openKeys(places.keys);
  if (!keys.ok) return failed(keys.error);
  const { durability, keepDays, keepBytes } = policy.value.settings;
  const clock = setup.clock ?? nodeClock;
  const before = readLogMemory(places.keys, keys.value);
  // Before the store is opened, which makes the database where there is none.
  const older = keysOlder(setup.home, before.ok ? before.value : undefined);
  const store = openSqliteStore({ path: places.database, durability, wallMs: clock.wallMs });
  if (!store.ok) return failed(store.error.sentence);
  const log = await openLog(store.value, keys.value, clock);
  if (!log.ok) return failed(log.error);
  await clearLeftovers(setup.home, setup.tell);
  destroyOldKeys({ keys: keys.value, keepDays, tell: setup.tell }, clock.wallMs());
  const waiters = new Waiters(setup.tell);
  const lost = lostHistory(setup.home);
  const gateway = new Gateway({
    services: {
      clock,
      secrets: nodeSecrets(keys.value),
      oracle,
      human: waiters,
      policies,
      connector: setup.connector,
      log: log.value,
      selfProtection: protectedInstallation({ home: setup.home, policies, configuration: setup.configuration ?? [] }),
      historyLost: () => lost.lost,
      cards,
      ...clientServices(setup),
    },
    servers: setup.servers,
    version: ownVersion(),
    tagOf: setup.tagOf,
  });
  const [{ home, tell }, { wallMs }] = [setup, clock];
  const lose = (sentence: string): Promise<void> => distrustLog({ gateway, lost, tell }, sentence);
  const trust = logTrust({ home, keys: keys.value, before, older, store: store.value, wallMs, tell, lose });
  await trust.checkFirst();
  await gateway.restore();
  readings.watch();
  const kept = { log: log.value, keys: keys.value, keepDays, keepBytes, clock, clients: setup.clients };
  const stop = keepHouse({ gateway, trust, policies, readings, ...kept }, setup.tell);
  const close = async (): Promise<void> => {
    await stop();
    trust.stop();
    await trust.keep();
    await gateway.close();
    deciding.close();
    await log.value.close(clock.monotonicMs());
    // Its records went with the folder; the next daemon must not take what they restricted for unknown.
    if (!logIsThere(setup.home)) rememberLoss(setup.home);
  };
  const factors = openFactors(home, wallMs);
  return ok({ gateway, log: log.value, policies, waiters, lost, trust, factors, cards, close });
}

type Deciding = Pick<Composition, "policies"> & {
  readonly oracle: PolicyOracles;
  readonly readings: AcceptedReadings;
  readonly files: CardFiles;
  readonly trials: TrialDesk;
  readonly tell: (text: string) => void;
  readonly close: () => void;
};

/** Policies with what is added to them, and what answers their questions. */
function decidingParts({
  home,
  tell,
  more: own,
  policies: files,
  policiesWanted: wanted,
  tag,
}: CompositionSetup): Deciding {
  const oracle = new PolicyOracles(tell);
  const more: MoreMechanisms = (policy) => {
    oracle.learn(policy);
    return own?.(policy) ?? [];
  };
  const programs: PolicyOptions["programs"] = (policy) => oracle.programProblems(policy);
  // The cards are the user's, not those of one log: the daemon and the gateway below it take the same answers.
  const cardHome = home === logHome(process.env, "gateway") ? stateHome(process.env) : home;
  const cardFiles = new CardFiles(cardHome);
  const readings = new AcceptedReadings(cardFiles, tell);
  const policies = new PolicyFiles(files, tell, { more, programs, tag, wanted, readings });
  const close = (): void => {
    readings.close();
    policies.close();
    oracle.close();
  };
  return { oracle, policies, readings, files: cardFiles, trials: trialDesk(cardHome), tell, close };
}

/** Milliseconds of the trial of one server. */
const trialMsMax = 120_000;

function trialDesk(home: string): TrialDesk {
  return new TrialDesk({
    files: new TrialFiles(home),
    packages: stateHome(process.env),
    wallMs: nodeClock.wallMs,
    probe: async (server, target) => {
      // A gateway without trials starts faster without the module.
      const { probeServer } = await import("../probe/probe-server.ts");
      return probeServer(server, target, { budgetMs: trialMsMax, toolsMax: 0 });
    },
  });
}

/** The desk is made before the gateway, which tells it what servers list. */
function cardDesk({ files, readings, trials, policies, tell }: Deciding, gatewayOf: () => Gateway): CardDesk {
  return new CardDesk({
    files,
    readings,
    trials,
    tell,
    wallMs: nodeClock.wallMs,
    isolation: (server) => {
      const running = gatewayOf()
        .state.projections.all(server)
        .map(([, { tier, notes, wanted = [] }]) => ({ tier, missing: notes, wanted: [...wanted] }));
      // Of several processes the one that is held least says how the server runs.
      const held = ({ tier }: { readonly tier: string }): number => isolationTiers.findIndex((one) => one === tier);
      const [least] = running.toSorted((left, right) => held(right) - held(left));
      return least && { ...least, wanted: [...new Set(running.flatMap(({ wanted }) => wanted))] };
    },
    answeredFor: async (server, { covered, shown }) => {
      policies.refresh();
      const { state } = gatewayOf();
      const list = await state.accepted.of(server, "tools/list");
      const entries = list.ok && list.value === undefined ? shown : covered;
      if (list.ok && covered.length > 0) state.accepted.accept(server, "tools/list", entries);
      gatewayOf().relist(server);
    },
  });
}

/** What may leave the log: nothing that is open in memory, and nothing of a log in doubt. */
function retained({ runs }: Gateway, { checked }: LogTrust): Pick<RetentionSetup, "isOpen" | "mayPrune"> {
  const isOpen = (run: string): boolean => runs.find(run) !== undefined || runs.dormant.find(run) !== undefined;
  return { isOpen, mayPrune: checked };
}

type Distrusting = Pick<Composition, "gateway" | "lost"> & Pick<CompositionSetup, "tell">;

/** The log turned out to be altered, cut or lost: the gateway goes on in the worst state of everything, and says so. */
async function distrustLog({ gateway, lost, tell }: Distrusting, sentence: string): Promise<void> {
  lost.lose();
  tell(`The event log cannot be believed, so every run counts as holding private data. ${sentence}`);
  await distrustRuns(gateway.runs, gateway.state.services);
}

function clientServices({ clients }: CompositionSetup): Pick<Services, "clients" | "isWorkFolder"> {
  return clients === undefined ? { isWorkFolder } : { isWorkFolder, clients };
}

async function openLog(store: Store, keys: LogKeys, clock: Clock): Promise<Result<EventLog, string>> {
  const chain = randomBytes(16).toString("hex");
  const options = { store, keys, wallMs: clock.wallMs, chain, release: ownVersion() };
  const opened = await openEventLog(options, clock.monotonicMs());
  if (!opened.ok) {
    await store.close(false);
    return err(opened.error.sentence);
  }
  // The clock of this machine may have been set back since: what was permitted for a time would be so for longer.
  const last = await opened.value.tail(2);
  if (last.ok) goOnFrom(Math.max(...last.value.map(({ at }) => at)));
  return opened;
}

type Kept = Pick<RetentionSetup, "log" | "keys" | "keepDays" | "keepBytes" | "clock" | "clients"> &
  Pick<Composition, "gateway" | "policies"> & { readonly trust: LogTrust; readonly readings: AcceptedReadings };

function keepHouse(
  { gateway, log, trust, policies, readings, ...kept }: Kept,
  tell: (text: string) => void,
): () => Promise<void> {
  const retention = logRetention({ ...retained(gateway, trust), ...kept, log, tell });
  const keeping = setInterval(() => {
    void trust.keep();
    void gateway.expire();
    policies.newDay(kept.clock.wallMs());
    void readings.endDays(today(kept.clock.wallMs()));
    void log.checkpoint(kept.clock.monotonicMs());
  }, houseKeepingMs);
  let told = false;
  const recovering = setInterval(() => {
    const health = log.health();
    if (health.kind === "ok") return;
    if (!told) tell(health.failure.sentence);
    told = true;
    void log.recover().then(async (recovered) => {
      if (!recovered.ok || log.health().kind !== "ok" || !told) return;
      told = false;
      await gateway.runs.rebuild();
      tell("The event log can be written again: calls go on.");
    });
  }, recoverEveryMs);
  for (const timer of [keeping, recovering]) timer.unref();
  return () => {
    clearInterval(keeping);
    clearInterval(recovering);
    return retention.stop();
  };
}
