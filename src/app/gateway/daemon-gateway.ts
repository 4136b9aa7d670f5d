/** The daemon's services: one gateway for all shims of a user, with the servers that the shims bring. */
import { resolve } from "node:path";
import { BoundedMap } from "../../core/bounded-map.ts";
import type { OpenServices } from "../../adapters/daemon/services.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Accept, ClientProcess, ConnectionFacts, Connector, ServerTarget } from "../../gateway/ports/transport.ts";
import { hasEnded, identify } from "../../adapters/daemon/process-identity.ts";
import { digest } from "../../wire/canonical.ts";
import { type Composition, compose } from "./composition.ts";
import { control } from "./control.ts";
import { type SessionGateway, type SessionSetup, gatewayServices } from "./daemon-session.ts";
import { nodeClock } from "../state/node-services.ts";
import { type PolicyFiles, fileOfTag, tagOfFile } from "../policy/policy-files.ts";
import { sha256, userPolicies } from "../policy/policy-source.ts";
import { resumable } from "../state/session-resume.ts";

/** How long a drain waits for calls in flight, and how often it looks. */
const drainMsMax = 8_000;
const drainLookMs = 50;

export const openServices: OpenServices = async (home) => {
  const sessions = new WeakMap<ConnectionFacts, SessionSetup>();
  const targets = new WeakMap<ServerTarget, Connector>();
  const clients = new BoundedMap<string, string>(clientsMax);
  const connected = new Map<string, SessionSetup>();
  const composition = await compose({
    home,
    policies: userPolicies(process.env),
    policiesWanted: () => userPolicies(process.env),
    servers: [],
    connector: {
      connect: (target, handler, order) => {
        const connector = targets.get(target);
        if (connector === undefined) throw new Error("a server was started for no session");
        return connector.connect(target, handler, order);
      },
    },
    // Hooks and servers without a policy of their own follow what another server of their client named.
    tagOf: (facts) => clients.get(clientOf(facts)),
    clients: {
      isGone: (client) =>
        hasEnded(client) && [...connected.values()].every(({ facts }) => !isSame(facts.process, client)),
      isOwn: (one) => isSame(identify(process.pid), one),
    },
    tell: (text) => void process.stderr.write(`${text}\n`),
  });
  if (!composition.ok) return composition;
  return ok(gatewayServices(sessionGateway(composition.value, { sessions, targets, clients, connected }), home));
};

function isSame(left: ClientProcess | undefined, right: ClientProcess): boolean {
  return left?.pid === right.pid && left.startedAt === right.startedAt;
}

/** How long after a session its client is looked for. */
const exitLookMs = 1_000;

/** Client processes whose policy is remembered; beyond it the oldest is forgotten, and its open runs keep theirs. */
const clientsMax = 1_024;

function clientOf({ principal, process }: ConnectionFacts): string {
  return `${principal} ${process?.pid ?? ""}@${process?.startedAt ?? ""}`;
}

type Books = {
  readonly sessions: WeakMap<ConnectionFacts, SessionSetup>;
  readonly targets: WeakMap<ServerTarget, Connector>;
  /** The tag that the servers of a client process name, with `--tag` or as that of a policy file, by process. */
  readonly clients: Map<string, string>;
  /** Sessions that are open now, by name. */
  readonly connected: Map<string, SessionSetup>;
};

function sessionGateway(composition: Composition, books: Books): SessionGateway {
  const { gateway } = composition;
  return {
    open: async (setup) => {
      books.connected.set(setup.session, setup);
      const opened = await openSession(composition, books, setup);
      if (!opened.ok) books.connected.delete(setup.session);
      return opened;
    },
    left: (setup) => {
      books.connected.delete(setup.session);
      // A client closes its servers first and is gone a moment later.
      setTimeout(() => void gateway.runs.endExited(), exitLookMs).unref();
    },
    notice: () => composition.trust.broken(),
    control: (request, context) => control(composition, request, context),
    drain: async () => {
      const until = nodeClock.monotonicMs() + drainMsMax;
      const busy = (): boolean => [...gateway.runs.all()].some((live) => live.inFlight.size > 0);
      while (busy() && nodeClock.monotonicMs() < until) {
        await new Promise((resolve) => setTimeout(resolve, drainLookMs));
      }
    },
    close: () => composition.close(),
  };
}

async function openSession(
  composition: Composition,
  books: Books,
  setup: SessionSetup,
): Promise<Result<{ readonly accept: Accept; readonly run: string }, string>> {
  const { gateway, policies, log } = composition;
  const named = setup.policy === undefined ? await ownPolicies(policies, setup) : await policies.load(setup.policy);
  if (!named.ok) return named;
  const run = gateway.runKeyFor(setup.facts);
  const tag = setup.policy === undefined ? setup.tag : tagOfFile(setup.policy);
  if (tag !== undefined) {
    const agreed = await agreeOn(composition, books, { setup, tag });
    if (!agreed.ok) return agreed;
  }
  if (setup.facts.process !== undefined) composition.factors.guard(setup.facts.process);
  books.sessions.set(setup.facts, setup);
  books.targets.set(setup.target, setup.connector);
  gateway.serve({ name: setup.server, target: (facts) => books.sessions.get(facts)?.target ?? setup.target });
  const handshake = setup.resume === undefined ? undefined : await log.store.session(setup.resume);
  const known = handshake?.ok === true ? handshake.value : undefined;
  const { command, args } = setup.target.kind === "stdio" ? setup.target : { command: "", args: [] };
  const identity = {
    session: setup.session,
    resume: setup.resume,
    principal: setup.facts.principal,
    run,
    server: setup.server,
    targetDigest: digest([command, [...args]], sha256),
    wallMs: nodeClock.wallMs,
  };
  const same = known !== undefined && known.targetDigest === identity.targetDigest;
  return ok({ accept: resumable(gateway.accept, log.store, identity, same ? known.initialize : undefined), run });
}

/**
 * A session begins under the policies that its user has now. One whose own words name others would go on under rules that
 * its user does not expect, so it is refused.
 */
async function ownPolicies(policies: PolicyFiles, { target }: SessionSetup): Promise<Result<void, string>> {
  const own = (target.kind === "stdio" ? target.env["SLUICEGATE_POLICY"] : undefined) ?? "";
  const folder = (target.kind === "stdio" ? target.workingDirectory : undefined) ?? "/";
  const files = userPolicies(process.env);
  if (own === "" || (files.length === 1 && files[0] === resolve(folder, own))) return policies.follow();
  return err(
    "SLUICEGATE_POLICY names another policy than when the daemon started: run `sluicegate daemon stop`, or name one with `run --policy`.",
  );
}

/** One conversation has one policy: a second server of the same client cannot bring a looser one along. */
async function agreeOn(
  { gateway, policies }: Composition,
  { clients }: Books,
  { setup, tag }: { readonly setup: SessionSetup; readonly tag: string },
): Promise<Result<void, string>> {
  const live = gateway.runs.find(gateway.runKeyFor(setup.facts));
  const client = clientOf(setup.facts);
  const before = clients.get(client);
  if (live !== undefined && before !== undefined && before !== tag) {
    const file = fileOfTag(before);
    return err(
      file === undefined
        ? `This client's run has the tag ${before}: give all its servers the same --tag.`
        : `This client's run is under the policy ${file}: give all its servers the same --policy.`,
    );
  }
  clients.set(client, tag);
  if (live === undefined || live.client.tag === tag || live.policy.source === fileOfTag(tag)) return ok(undefined);
  // Only hooks or servers that name no policy have used the run so far: it is folded again under the policy named now.
  live.client = { ...live.client, tag };
  await gateway.runs.refold((one) =>
    one === live
      ? policies.select({ principal: one.principal, client: one.client.name, tag: one.client.tag })
      : one.policy,
  );
  return ok(undefined);
}
