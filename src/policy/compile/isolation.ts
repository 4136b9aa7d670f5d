/** The section `isolation` to one order for each server: layers joined, contradictions refused, digests taken. */
import canonicalize from "canonicalize";
import type { IsolationOrder, Scope, ToolScope } from "../../core/isolation/scope.ts";
import type { CanonicalPolicy } from "../canonical/policy-document.ts";
import type { DefaultScopeForm, IsolationForm, ServerIsolationForm } from "../document/long-form.ts";
import { sortedWords } from "../document/label-forms.ts";
import { type DocumentPath, type Reporter, problem, quoted } from "../document/diagnostic.ts";
import type { PackScopeText } from "../document/shapes-isolation.ts";
import { type Conflict, checkLayer, checkPrograms, checkScope, conflictsOf } from "../isolation/check.ts";
import { joinScopes } from "../canonical/scopes.ts";
import { learnedScope } from "../isolation/learned-scope.ts";
import type { Isolation } from "../ir/isolation-order.ts";
import { suggestion } from "../document/nearest.ts";

/** Servers without a name in the policy whose orders are kept. */
const rememberedServersMax = 1_024;

type Hash = (text: string) => string;

/** Compiles the section; undefined where there is none. With problems reported, what comes back is not used. */
export function compileIsolation(policy: CanonicalPolicy, hash: Hash, report: Reporter): Isolation | undefined {
  for (const [name, pack] of Object.entries(policy.packs)) {
    if (pack.scope !== undefined) checkWritten(pack.scope, ["packs", name, "scope"], report);
  }
  const section = policy.isolation;
  if (section === undefined) return undefined;
  checkWritten(section.defaults, ["isolation", "defaults"], report);
  for (const [name, server] of Object.entries(section.servers)) {
    checkWritten(server, ["isolation", "servers", name], report);
  }
  checkJudge(policy, report);
  // A server without a name of its own stands for all that have none.
  const base = orderFor("", undefined, section, hash);
  const known = new Set(conflictsOf(base, section.require).map((found) => reported(found, ["isolation"], report)));
  const named = new Map<string, IsolationOrder>();
  for (const name of sortedWords([...Object.keys(section.servers), ...Object.keys(policy.servers)])) {
    const own = section.servers[name];
    const pack = packScope(policy, name);
    if (own === undefined && pack === undefined) continue;
    const order = orderFor(name, joinScopes<ServerIsolationForm>(pack ?? {}, own ?? {}), section, hash);
    // A finding about the defaults is not repeated for every server.
    for (const found of conflictsOf(order, own?.require ?? section.require)) {
      if (!known.has(found.message)) reported(found, ["isolation", "servers", name], report);
    }
    named.set(name, order);
  }
  const others = new Map<string, IsolationOrder>();
  return {
    named,
    orderOf: (server) => {
      const found = named.get(server) ?? others.get(server);
      if (found !== undefined) return found;
      const made = orderFor(server, undefined, section, hash);
      // Asked for at every call; clients may make up names without end, and those are not worth remembering.
      if (others.size < rememberedServersMax) others.set(server, made);
      return made;
    },
    unjudged: new Set(section.exec_trace_whitelisted === false ? trustedServers(policy) : []),
    judge: section.judge,
  };
}

/** Servers that the operator calls trusted, by name. */
function trustedServers({ servers }: CanonicalPolicy): readonly string[] {
  return Object.entries(servers).flatMap(([name, { trust }]) => (trust === "trusted" ? [name] : []));
}

function checkJudge({ isolation, judges = {} }: CanonicalPolicy, report: Reporter): void {
  const use = isolation?.judge?.use;
  checkPrograms(isolation?.judge?.programs, ["isolation", "judge", "programs"], report);
  const names = Object.keys(judges);
  if (use === undefined || names.includes(use)) return;
  const remedy = suggestion(use, names, "declare it under `judges`");
  report(problem("JUDGE", ["isolation", "judge", "use"], `${quoted(use)} is not a judge`, remedy));
}

function packScope(policy: CanonicalPolicy, server: string): PackScopeText | undefined {
  const facts = Object.hasOwn(policy.servers, server) ? policy.servers[server] : undefined;
  const pack = facts?.pack;
  return pack !== undefined && Object.hasOwn(policy.packs, pack) ? policy.packs[pack]?.scope : undefined;
}

function checkWritten(scope: PackScopeText, path: DocumentPath, report: Reporter): void {
  checkScope(scope, path, report);
  checkLayer(scope, path, report);
}

/** Reports a conflict and returns its sentence. */
function reported({ part, message, remedy }: Conflict, path: DocumentPath, report: Reporter): string {
  report(problem("SCOPE-CONFLICT", [...path, ...part], message, remedy));
  return message;
}

function orderFor(
  server: string,
  own: ServerIsolationForm | undefined,
  section: IsolationForm,
  hash: Hash,
): IsolationOrder {
  const mode = own?.backend ?? section.backend;
  const said = scopeOf(section.defaults, own ?? {});
  const order = {
    server,
    mode,
    require: mode === "off" ? ("none" as const) : (own?.require ?? section.require),
    scope: mode === "learn" ? learnedScope(said) : said,
  };
  // A map has no JSON of its own; its entries go in by name, so that their order does not count.
  const content = { ...order, scope: { ...order.scope, tools: Object.fromEntries(order.scope.tools) } };
  const text = canonicalize(content);
  if (text === undefined) throw new Error("an order is an object and always has a text");
  return { ...order, digest: hash(text) };
}

function scopeOf(defaults: DefaultScopeForm, own: ServerIsolationForm): Scope {
  // Joining takes no key away, and the defaults have every one.
  const joined = joinScopes<PackScopeText>(defaults, own) as DefaultScopeForm & Pick<PackScopeText, "tools">;
  const { files, net, exec, limits } = joined;
  const closed = net.mode === "none";
  const tools = Object.entries(joined.tools ?? {}).map(([name, tool]) => [name, toolScope(tool, closed)] as const);
  return {
    files: { ...files, deny: sortedWords(files.deny) },
    // Entries of a wider layer have no effect where a nearer one shuts the network.
    net: { ...net, allow: net.mode === "list" ? net.allow : [] },
    exec: { ...exec, programs: exec.mode === "list" ? exec.programs : [] },
    environment: joined.env,
    sockets: joined.sockets,
    limits,
    trace: joined.trace,
    serial: joined.serial,
    onViolation: joined.onViolation,
    tools: new Map(tools),
  };
}

function toolScope(tool: Partial<ToolScope>, closed: boolean): ToolScope {
  return {
    read: tool.read ?? [],
    write: tool.write ?? [],
    allow: closed ? [] : (tool.allow ?? []),
    programs: tool.programs ?? [],
  };
}
