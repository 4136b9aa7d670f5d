/** `sluicegate gateway`: several servers behind one guard, over Streamable HTTP or stdio, in the foreground. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { unmetFactors } from "../../app/factors/unmet-factors.ts";
import { type OptionsOf, takes } from "../output.ts";
import { boundedWriter } from "../../adapters/net/bounded-writer.ts";
import { answerControl, gatewayHome } from "../../app/gateway/control-socket.ts";
import { readConfig, withUsualVariables, type GatewayConfig } from "../../app/gateway/config.ts";
import { makeControlToken } from "../../app/gateway/control-token.ts";
import { giveBackMemory } from "../../app/gateway/idle-memory.ts";
import { listen, openGateway, serveStdio, unstartable } from "../../app/gateway/http-gateway.ts";
import type { Composition } from "../../app/gateway/composition.ts";
import { type Result, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { shown, visible } from "../../app/state/sentences.ts";
import { readCertificates, writeCertificates } from "../../app/proof/bundle.ts";
import { type RequiredProofs, requireProofs } from "../../app/proof/required.ts";

const gatewayOptions = {
  "--config <file>": ["which servers there are, and which policy holds", "sluicegate.yaml"],
  "--policy <file>": "the policy to decide under, instead of the one in the configuration",
  "--http <host:port>": "listen for HTTP clients; without it the client is this process's own stdio",
  "--require-proof [certificates]": "start only if every hazard is proved; a file or folder of certificates",
  "--cert-dir <folder>": "with --check --require-proof: write the certificates for what the servers offer now",
  "--check": "ask every server for its tools, say what came back, and end",
} as const;

export function register(program: Command): void {
  const command = program.command("gateway").description("guard several servers, over Streamable HTTP or stdio");
  const options = takes(command, gatewayOptions);
  command.action(async () => {
    process.exitCode = await run(options());
  });
}

async function run(options: OptionsOf<typeof gatewayOptions>): Promise<number> {
  const config = readConfig(options.config);
  if (!config.ok) return fail(`${config.error.sentence} [${config.error.code}]`);
  const policies = options.policy === undefined ? config.value.policies : [resolve(options.policy)];
  const settled = withUsualVariables({ ...config.value, policies }, process.env);
  const place = options.http === undefined ? undefined : placeOf(options.http);
  if (place === "invalid") return fail("`--http` wants HOST:PORT, for instance 127.0.0.1:8787.");
  if (passesCredentials(settled) && place === undefined && options.check !== true) {
    return fail(
      "`auth: same-origin` passes on what HTTP clients send, and this process's own stdio sends nothing: add --http, or use `static`. [SG-CONFIG-AUTH]",
    );
  }
  const required = requiredProofs(options.requireProof);
  if (required !== undefined && !required.ok) return fail(required.error);
  if (options.certDir !== undefined && (required === undefined || options.check !== true))
    return fail("`--cert-dir` keeps what a check has proved: add --check and --require-proof.");
  const home = gatewayHome(process.env);
  if (!home.ok) return fail(home.error);
  return serve(settled, {
    place,
    check: options.check === true,
    home: home.value,
    proofs: required?.value,
    certificates: options.certDir,
  });
}

function passesCredentials({ servers }: GatewayConfig): boolean {
  return [...servers.values()].some(({ auth }) => auth === "same-origin");
}

function requiredProofs(option: string | true | undefined): Result<RequiredProofs, string> | undefined {
  if (option === undefined) return undefined;
  if (option === true) return ok(requireProofs(undefined));
  const read = readCertificates(option);
  return read.ok ? ok(requireProofs(read.value.map(({ certificate }) => certificate))) : read;
}

export type Serving = {
  readonly place: { readonly host: string; readonly port: number } | undefined;
  readonly check: boolean;
  readonly home: string;
  readonly proofs?: RequiredProofs | undefined;
  /** Folder for the certificates that a check makes. */
  readonly certificates?: string | undefined;
};

/** Runs a gateway until it is stopped; resolves with the exit code. */
export async function serve(config: GatewayConfig, serving: Serving): Promise<number> {
  const { proofs } = serving;
  const more = proofs === undefined ? undefined : (policy: CompiledPolicy) => [proofs.mechanism(policy)];
  const write = boundedWriter(process.stderr);
  const opened = await openGateway(config, serving.home, (text) => write(`${text}\n`), more);
  if (!opened.ok) return fail(opened.error);
  const composition = opened.value;
  const stopControl = serving.check ? undefined : await answerControl(composition, serving.home);
  try {
    if (serving.check) {
      const code = await askServers(composition, config, (line) => void process.stdout.write(`${line}\n`));
      if (proofs === undefined) return code;
      return proofs.refused.length > 0
        ? failUnproved(proofs)
        : (keepCertificates(proofs, serving.certificates) ?? code);
    }
    if (proofs !== undefined) {
      // Nothing is served before every server has been asked and every hazard is proved for what they offer.
      const code = await askServers(composition, config, (line) => void process.stderr.write(`${line}\n`));
      if (proofs.refused.length > 0) return failUnproved(proofs);
      if (code !== 0)
        return fail(
          "Not every server answered, so nothing is proved of it: start it, or take it out of the configuration.",
        );
    }
    for (const { server, why } of unstartable(config)) write(`Server \`${server}\` cannot start: ${shown(why)}\n`);
    const unmet = unmetFactors(composition.policies.loaded(), composition.factors);
    for (const sentence of unmet) write(`${sentence}\n`);
    if (serving.place === undefined) {
      await Promise.race([serveStdio(composition, config), stopped()]);
      return 0;
    }
    const control = makeControlToken(serving.home);
    const listening = await listen(composition, config, { ...serving.place, control });
    if (!listening.ok) return fail(listening.error);
    announce(listening.value.url, config);
    giveBackMemory();
    await stopped();
    await listening.value.close();
    return 0;
  } finally {
    await stopControl?.();
    await composition.close();
  }
}

async function askServers(
  composition: Composition,
  config: GatewayConfig,
  tell: (line: string) => void,
): Promise<0 | 1> {
  const { checkServers } = await import("../../app/client/check-servers.ts");
  return checkServers(composition, config, tell);
}

function keepCertificates({ made }: RequiredProofs, folder: string | undefined): number | undefined {
  const written = folder === undefined ? ok(undefined) : writeCertificates(folder, made);
  return written.ok ? undefined : fail(written.error);
}

/** A finding, not an error of usage: the policy is understood, and does not hold. */
function failUnproved({ refused }: RequiredProofs): number {
  const [first] = refused;
  const { server, hazard, reason } = first ?? { server: "?", hazard: "?", reason: "nothing is proved" };
  fail(
    `Not started: hazard \`${shown(hazard, 40)}\` is not proved with server \`${shown(server, 40)}\` (${shown(reason, 80)}). Run \`sluicegate proof verify\`. [SG-UNPROVED]`,
  );
  return 1;
}

function announce(url: string, config: GatewayConfig): void {
  const names = [...config.servers.keys()];
  const lines = [
    `Sluicegate guards ${names.join(", ")} at ${url}, under ${config.policies.length === 0 ? "the default policy" : config.policies.join(", ")}.`,
    "Connect a client:",
    ...names.map((name) => `  claude mcp add --transport http ${name} ${url}/s/${name}/mcp`),
    `or all of them as one server: ${url}/mcp`,
    ...(passesCredentials(config) ? ["Runs are keyed by credentials: a new token starts a new run."] : []),
    "Ctrl-C ends it.",
  ];
  // Over HTTP standard output is not a protocol stream; the first line also gives scripts the address of the gateway.
  process.stdout.write(`${lines.join("\n")}\n`);
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve());
  });
}

function placeOf(text: string): Serving["place"] | "invalid" {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3] ?? Number.NaN);
  const host = match?.[1] ?? match?.[2];
  return host === undefined || !(port >= 0 && port <= 65_535) ? "invalid" : { host, port };
}

function fail(sentence: string): number {
  process.stderr.write(`${visible(sentence)}\n`);
  return 2;
}
