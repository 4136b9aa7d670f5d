/**
 * `sluicegate scan`: starts every server once, reads what it says of itself, and judges that text. Coverage is part of the
 * result: a server that did not answer, or a list that was not read whole, is never clean.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { findingsIn, verdictOf } from "../../mechanisms/pin/detect.ts";
import { openGateway } from "../gateway/http-gateway.ts";
import { type ServerConfig, withUsualVariables } from "../gateway/config.ts";
import { compiledFrom } from "../policy/named-policy.ts";
import { sha256 } from "../policy/policy-source.ts";
import { type ConfiguredServer, scanConfig } from "./client-config.ts";
import { type ProbeReport, probeServer } from "../probe/probe-server.ts";
import { shown } from "../state/sentences.ts";
import { type ReportedFinding, probeFamily } from "./finding-texts.ts";
import { type ListRead, listServer } from "./listing.ts";

/** A server with its lists, wherever they come from. */
export type ScannedServer = {
  readonly name: string;
  /** File and line that name it. */
  readonly place: { readonly file: string; readonly line: number };
  readonly lists: readonly ListRead[];
  readonly gap: string | undefined;
  readonly tier: string;
  /** Attempts to leave the projection, as sentences. */
  readonly seen: readonly string[];
  /** What trying it out showed, or why it was not tried out; absent where that was not asked for. */
  readonly probed?: Result<ProbeReport, string>;
};

/** Findings of one entry. */
export type EntryReport = {
  readonly list: string;
  readonly entry: string;
  readonly verdict: "confirm" | "deny";
  readonly findings: readonly ReportedFinding[];
};

export type ServerReport = {
  readonly server: string;
  readonly place: ScannedServer["place"];
  readonly tier: string;
  readonly entries: number;
  readonly seen: readonly string[];
  /** What was not read, and why; empty = all of it was. */
  readonly gaps: readonly string[];
  readonly verdict: "clean" | "incomplete" | "confirm" | "deny";
  readonly reports: readonly EntryReport[];
  /** What trying it out came to; absent where that was not asked for. */
  readonly probes?: Pick<ProbeReport, "verdict" | "denied" | "coverage" | "probes" | "tier" | "hosts">;
};

export type ScanOptions = {
  readonly isolation: "auto" | "required" | "none";
  /** Milliseconds for all servers together. */
  readonly budgetMs: number;
  /** Local servers are also called with made-up data, in a projection that nothing leaves. */
  readonly probe: boolean;
  /** One line for each server as it is read. */
  readonly tell: (line: string) => void;
};

/** Servers that run at the same time. */
const parallelMax = 4;

/** Starts and lists the servers of configurations. The error is a sentence for the user. */
export async function listServers(
  configured: readonly ConfiguredServer[],
  options: ScanOptions,
): Promise<Result<readonly ScannedServer[], string>> {
  const home = mkdtempSync(join(tmpdir(), "sluicegate-scan-"));
  try {
    const names = gatewayNames(configured);
    const usable = configured.flatMap(({ config }, at) =>
      config.ok ? [[names[at] ?? "", config.value] as const] : [],
    );
    const policy = join(home, "policy.json");
    writeFileSync(policy, JSON.stringify(policyOf(options.isolation, new Map(usable))));
    const workspace = join(home, "workspace");
    mkdirSync(workspace);
    const config = withUsualVariables(scanConfig(new Map(usable), policy, workspace), process.env);
    const seen = new Seen();
    const opened = await openGateway(config, join(home, "state"), (text) => seen.hear(text));
    if (!opened.ok) return opened;
    try {
      return ok(await listAll({ configured, names, seen, composition: opened.value }, options));
    } finally {
      await opened.value.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * What the gateway reports of servers that try to leave their projection. It is no verdict: the scope of a scan is empty,
 * and a server that needs a host or a file tries to reach it at its start.
 */
class Seen {
  readonly #sentences = new Map<string, string[]>();

  /** A line for the operator: `Run ID, server NAME: CODE (rule ID): SENTENCE; THE WAY ON`. */
  hear(line: string): void {
    const [, server = "", sentence = ""] =
      /^Run \S+, server `([^`]+)`: SG-[A-Z-]+ \(rule [^()]+\): ([^;]+)/.exec(line) ?? [];
    const known = this.#sentences.get(server) ?? [];
    if (sentence !== "" && known.length < seenMax) this.#sentences.set(server, [...known, sentence]);
  }

  of(server: string): readonly string[] {
    return this.#sentences.get(server) ?? [];
  }
}

/** Attempts of one server that are reported. */
const seenMax = 16;

type Scanning = {
  readonly configured: readonly ConfiguredServer[];
  /** Names of the servers inside the gateway, in the same order. */
  readonly names: readonly string[];
  readonly seen: Seen;
  readonly composition: Parameters<typeof listServer>[0];
};

async function listAll(
  { configured, names, seen, composition }: Scanning,
  { budgetMs, probe, tell }: ScanOptions,
): Promise<readonly ScannedServer[]> {
  const until = performance.now() + budgetMs;
  const found: ScannedServer[] = [];
  const waiting = [...configured.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, server] = next;
      const name = names[at] ?? "";
      const listed = { ...(await listOne(composition, server, { name, until })), seen: seen.of(name) };
      const tried = probe ? await tryOut(server, name, until) : undefined;
      const scanned = { ...listed, ...(tried === undefined ? {} : { probed: tried }) };
      found[at] = scanned;
      tell(progressOf(scanned));
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
  return found;
}

/** Names that a gateway accepts, like those of the files, each once. */
function gatewayNames(configured: readonly ConfiguredServer[]): readonly string[] {
  const names = new Set<string>();
  for (const { name } of configured) {
    const plain =
      name
        .toLowerCase()
        .replace(/[^a-z0-9_-]+/g, "-")
        .replace(/^[^a-z0-9]+/, "")
        .slice(0, 24) || "server";
    let free = plain;
    for (let count = 2; names.has(free); count += 1) free = `${plain}-${count}`;
    names.add(free);
  }
  return [...names];
}

async function listOne(
  composition: Parameters<typeof listServer>[0],
  { name, file, line, config }: ConfiguredServer,
  asked: { readonly name: string; readonly until: number },
): Promise<Omit<ScannedServer, "seen">> {
  const blank = { name, place: { file, line }, lists: [], tier: "none" };
  if (!config.ok) return { ...blank, gap: config.error };
  const left = asked.until - performance.now();
  if (left <= 0) return { ...blank, gap: "the time of the scan was over: raise it with --budget" };
  const listing = await listServer(composition, asked.name, Math.min(left, answerMsMax));
  return { ...blank, ...listing, tier: config.value.target.kind === "http" ? "remote" : listing.tier };
}

/** A remote server has no projection, so nothing is called there. */
async function tryOut(
  { config }: ConfiguredServer,
  name: string,
  until: number,
): Promise<Result<ProbeReport, string> | undefined> {
  if (!config.ok || config.value.target.kind !== "stdio") return undefined;
  const budgetMs = until - performance.now();
  if (budgetMs <= 0) return err("the time of the scan was over: raise it with --budget");
  return probeServer(name, config.value.target, { budgetMs, toolsMax: 0 });
}

/** A server that has not answered a request by then counts as silent. */
const answerMsMax = 30_000;

/** Lets everything pass, since nothing is called, and isolates as asked. */
function policyOf(isolation: ScanOptions["isolation"], servers: ReadonlyMap<string, ServerConfig>): JsonObject {
  if (isolation === "none") return { version: 1, mode: "observe" };
  const scopes = [...servers].flatMap(([name, { target }]): [string, JsonObject][] => {
    // A projection without a network may see the variables that the client would give the server.
    const scope = { env: { pass: target.kind === "stdio" ? Object.keys(target.env) : [] } };
    const document = { version: 1 as const, isolation: { servers: { [name]: scope } } };
    return compiledFrom({ file: "scan", document }).ok ? [[name, scope]] : [];
  });
  const section = { servers: Object.fromEntries(scopes) };
  return { version: 1, mode: "observe", isolation: isolation === "required" ? { require: "A", ...section } : section };
}

function progressOf({ name, lists, gap }: ScannedServer): string {
  const entries = lists.reduce((sum, list) => sum + list.entries.length, 0);
  return gap === undefined ? `${name}: ${entries} entries read` : `${name}: not read (${gap})`;
}

/** Judges all lists together: a name can only be a look-alike of names that are known. */
export function judgeServers(servers: readonly ScannedServer[]): readonly ServerReport[] {
  const names = servers.map((server) => server.lists.flatMap(toolNames));
  return servers.map((server, at) => {
    const foreign = names.flatMap((of, other) => (other === at ? [] : of));
    const reports = server.lists.flatMap((list) => reportsOf(server.name, list, foreign));
    const gaps = [
      ...(server.gap === undefined ? [] : [server.gap]),
      ...server.lists.flatMap(gapOf),
      ...probeGaps(server.probed),
    ];
    const { probed } = server;
    const probes = probed?.ok === true ? { probes: factsOf(probed.value) } : {};
    if (probed?.ok === true) reports.push(...probeReports(server.name, probed.value));
    const entries = server.lists.reduce((sum, list) => sum + list.entries.length, 0);
    return reportOf({
      server: server.name,
      place: server.place,
      tier: server.tier,
      seen: server.seen,
      entries,
      gaps,
      reports,
      ...probes,
    });
  });
}

/** The worst verdict of its entries; without any, a server that was not read whole is not clean. */
function reportOf(judged: Omit<ServerReport, "verdict">): ServerReport {
  const { reports, gaps } = judged;
  const worst = reports.some((one) => one.verdict === "deny") ? "deny" : reports.length > 0 ? "confirm" : undefined;
  return { ...judged, verdict: worst ?? (gaps.length > 0 ? "incomplete" : "clean") };
}

/** The report without the entries whose findings are all known from an earlier one. */
export function withoutKnown(report: ServerReport, known: ReadonlySet<string>): ServerReport {
  const reports = report.reports.filter((entry) => entry.findings.some((one) => !known.has(one.fingerprint)));
  return reportOf({ ...report, reports });
}

const gapOf = ({ method, gap }: ListRead): string[] => (gap === undefined ? [] : [`${method}: ${gap}`]);

/** What was not run, and a server that could not be tried out at all: neither is ever clean. */
function probeGaps(probed: ScannedServer["probed"]): readonly string[] {
  if (probed === undefined) return [];
  if (!probed.ok) return [`it was not tried out: ${probed.error}`];
  return probed.value.coverage.notRun.map(({ tool, reason }) => `\`${tool}\` was not tried out: ${reason}`);
}

function factsOf({
  objections: _objections,
  tools: _tools,
  ...facts
}: ProbeReport): NonNullable<ServerReport["probes"]> {
  return facts;
}

/** Objections by tool. One that rejects the server, or too many of them, refuse it; others are for its user to look at. */
function probeReports(server: string, { objections, verdict }: ProbeReport): EntryReport[] {
  const tools = [...new Set(objections.map(({ tool }) => tool))];
  return tools.map((tool) => {
    const own = objections.filter((one) => one.tool === tool);
    const entry = tool ?? "the server";
    const findings = own.map(({ code, reason }) => {
      const found = { rule: `${probeFamily}.${code}`, pointer: "", excerpt: shown(reason, 300) };
      return { ...found, family: probeFamily, fingerprint: fingerprintOf(server, probeList, entry, found) };
    });
    const denies = verdict === "rejected" && (own.some(({ hard }) => hard) || !objections.some(({ hard }) => hard));
    return { list: probeList, entry, verdict: denies ? "deny" : "confirm", findings };
  });
}

/** In the place of a list, for what was found by calls. */
const probeList = "tools/call";

const toolNames = ({ method, entries }: ListRead): string[] =>
  method === "tools/list" ? entries.flatMap((entry) => stringMember(entry, "name") ?? []) : [];

function reportsOf(server: string, list: ListRead, foreign: readonly string[]): EntryReport[] {
  const names = list.entries.flatMap((entry) => stringMember(entry, "name") ?? []);
  const tools = list.method === "tools/list";
  // Names of resources are titles, and two of them may be alike without any harm.
  const neighbours = tools ? { siblings: names, foreign } : { siblings: [], foreign: [] };
  return list.entries.flatMap((entry) => {
    const name = stringMember(entry, "name") ?? stringMember(entry, "uri") ?? list.method;
    const findings = findingsIn(entry, neighbours);
    const verdict = verdictOf(findings);
    if (verdict === "allow") return [];
    const marked = findings.map((one) => ({ ...one, fingerprint: fingerprintOf(server, list.method, name, one) }));
    return [{ list: list.method, entry: name, verdict, findings: marked }];
  });
}

/** The same finding has the same fingerprint in every scan, wherever the configuration file is. */
function fingerprintOf(
  server: string,
  list: string,
  entry: string,
  { rule, pointer, excerpt }: Pick<ReportedFinding, "rule" | "pointer" | "excerpt">,
): string {
  return sha256(JSON.stringify([server, list, entry, rule, pointer, excerpt]));
}
