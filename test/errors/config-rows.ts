/** Every fault of a gateway's configuration. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configBytesMax, configOf, readConfig, type ConfigFault } from "../../src/app/gateway/config.ts";

export type FaultRow = {
  readonly code: string;
  readonly names: string;
  readonly produce: () => { readonly code: string; readonly sentence: string };
};

function faultOf(result: { readonly ok: boolean; readonly error?: ConfigFault }): ConfigFault {
  return result.error ?? { code: "none", place: "", sentence: "" };
}

const of =
  (value: unknown): FaultRow["produce"] =>
  () =>
    faultOf(configOf(value, "gateway.yaml"));

const server = (entry: unknown): FaultRow["produce"] => of({ version: 1, servers: { mail: entry } });

function fromText(text: string): ConfigFault {
  const folder = mkdtempSync(join(tmpdir(), "sg-config-"));
  try {
    const file = join(folder, "gateway.yaml");
    writeFileSync(file, text);
    return faultOf(readConfig(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const command = { command: "x" };

export const configRows: readonly FaultRow[] = [
  { code: "SG-CONFIG-READ", names: "nowhere.yaml", produce: () => faultOf(readConfig("nowhere.yaml")) },
  { code: "SG-CONFIG-SIZE", names: "gateway.yaml", produce: () => fromText(" ".repeat(configBytesMax + 1)) },
  { code: "SG-CONFIG-SYNTAX", names: "gateway.yaml", produce: () => fromText("servers: [\n\u0007") },
  { code: "SG-CONFIG-SHAPE", names: "servers", produce: of([]) },
  { code: "SG-CONFIG-KEY", names: "servres", produce: of({ version: 1, servres: {} }) },
  { code: "SG-CONFIG-KEY", names: "servers.mail.comand", produce: server({ comand: "x" }) },
  { code: "SG-CONFIG-VERSION", names: "version", produce: of({ version: 2, servers: {} }) },
  { code: "SG-CONFIG-SERVERS", names: "servers", produce: of({ version: 1, servers: {} }) },
  { code: "SG-CONFIG-NAME", names: "servers.Mail Box", produce: of({ version: 1, servers: { "Mail Box": command } }) },
  { code: "SG-CONFIG-SERVER", names: "servers.mail", produce: server({ command: "x", url: "http://x" }) },
  { code: "SG-CONFIG-AUTH", names: "servers.mail.auth", produce: server({ ...command, auth: "resource" }) },
  { code: "SG-CONFIG-AUTH", names: "servers.mail.auth", produce: server({ ...command, auth: "same-origin" }) },
  {
    code: "SG-CONFIG-AUTH",
    names: "servers.mail.auth",
    produce: of({ version: 1, servers: { mail: { url: "https://x/", auth: "same-origin" }, other: command } }),
  },
  {
    code: "SG-CONFIG-HOSTS",
    names: "hosts.0",
    produce: of({ version: 1, servers: { mail: command }, hosts: ["a:1"] }),
  },
  { code: "SG-CONFIG-COMMAND", names: "servers.mail.command", produce: server({ command: 1 }) },
  { code: "SG-CONFIG-ARGS", names: "servers.mail.args", produce: server({ ...command, args: "x" }) },
  { code: "SG-CONFIG-ENV", names: "servers.mail.env", produce: server({ ...command, env: { A: 1 } }) },
  { code: "SG-CONFIG-CWD", names: "servers.mail.cwd", produce: server({ ...command, cwd: 1 }) },
  { code: "SG-CONFIG-URL", names: "servers.mail.url", produce: server({ url: "https://a:b@x" }) },
  { code: "SG-CONFIG-FLAVOUR", names: "servers.mail.flavour", produce: server({ url: "http://x", flavour: "soap" }) },
  { code: "SG-CONFIG-HEADERS", names: "servers.mail.headers", produce: server({ url: "http://x", headers: [] }) },
  { code: "SG-CONFIG-POLICY", names: "policy", produce: of({ version: 1, servers: { mail: command }, policy: 1 }) },
  { code: "SG-CONFIG-ORIGINS", names: "origins", produce: of({ version: 1, servers: { mail: command }, origins: 1 }) },
  { code: "SG-CONFIG-TAG", names: "tag", produce: of({ version: 1, servers: { mail: command }, tag: "a b" }) },
  { code: "SG-CONFIG-MEMORY", names: "memoryMb", produce: of({ version: 1, servers: { mail: command }, memoryMb: 8 }) },
  {
    code: "SG-CONFIG-WORKSPACE",
    names: "workspace",
    produce: of({ version: 1, servers: { mail: command }, workspace: 1 }),
  },
];
