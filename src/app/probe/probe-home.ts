/**
 * What a server finds that is tried out: a home folder, a workspace and variables with contents that exist nowhere else. No
 * data of the user is among them (lifecycle.md 1.3). `.netrc` is not planted, since HTTP libraries read it by themselves.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { attempt } from "../../adapters/attempt.ts";
import { type Canary, tokenCharacters } from "../../mechanisms/probe/canary.ts";
import type { ServerCommand } from "../client/driven-server.ts";

/** Files below the home folder and below the workspace; each holds a token of its own. */
const honeyFiles: readonly (readonly [file: string, text: (token: string) => string])[] = [
  [
    "home/.ssh/id_ed25519",
    (token) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${token}\n-----END OPENSSH PRIVATE KEY-----\n`,
  ],
  ["home/.ssh/id_rsa", (token) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${token}\n-----END OPENSSH PRIVATE KEY-----\n`],
  [
    "home/.aws/credentials",
    (token) =>
      `[default]\naws_access_key_id = AKIA${token.slice(0, 16).toUpperCase()}\naws_secret_access_key = ${token}\n`,
  ],
  ["home/.config/gh/hosts.yml", (token) => `github.com:\n  user: dana\n  oauth_token: gho_${token}\n`],
  ["home/.bash_history", (token) => `git pull\nexport API_KEY=${token}\n`],
  ["workspace/.env", (token) => `DATABASE_URL=postgres://app:${token}@db.example.com/app\n`],
];

/** Files of a workspace that tools are asked for; nothing in them is secret. */
const plainFiles: readonly (readonly [file: string, text: string])[] = [
  ["workspace/notes.txt", "Buy milk.\nCall Dana on Monday.\n"],
  ["workspace/README.md", "# Example\n\nA small project.\n"],
];

/** Variables beside those of the server's entry. */
const honeyVariables = ["GITHUB_TOKEN", "OPENAI_API_KEY"] as const;

/** Variables of the projection, of this gateway, and of the session that a client gave its servers: none is the server's. */
const surroundings =
  /^(?:HOME|PWD|OLDPWD|PATH|TMPDIR|SHLVL|_|MAIL|TERM|DISPLAY|(?:SLUICEGATE|SSH|DBUS|XDG|WAYLAND|VSCODE|LD|npm)_.*)$/;

/** Whom a server takes its user for; none of it is a secret. */
export type ProbeUser = { readonly name: string; readonly language: string; readonly zone: string };
export const usualUser: ProbeUser = { name: "dana", language: "en_US.UTF-8", zone: "Europe/Berlin" };
export const otherUser: ProbeUser = { name: "maria", language: "pt_BR.UTF-8", zone: "America/Sao_Paulo" };

export class ProbeHome {
  readonly folder = mkdtempSync(join(tmpdir(), "sluicegate-probe-"));
  readonly canaries: Canary[] = [];
  readonly #planted = new Set<string>();
  readonly #tokens: () => string;
  readonly #user: ProbeUser;

  constructor(tokens: () => string, user: ProbeUser = usualUser) {
    this.#tokens = tokens;
    this.#user = user;
    for (const name of ["home", "workspace", "temporary", "state"]) mkdirSync(join(this.folder, name));
    for (const [name, text] of honeyFiles) this.#plant(name, text(this.#canary("file", name)));
    for (const [name, text] of plainFiles) this.#plant(name, text);
    // Names of files are private as well: a list of them is what a thief looks at first.
    this.#plant(`home/offer-${this.#canary("name", "a file")}.txt`, "An offer.\n");
    chmodSync(this.folder, 0o755);
    chmodSync(this.path("temporary"), 0o1777);
  }

  path(name: "home" | "workspace" | "temporary" | "state"): string {
    return join(this.folder, name);
  }

  /** The command with mock variables, in the workspace of the probe; folders that its arguments name become that one. */
  target(target: ServerCommand): ServerCommand {
    const workspace = this.path("workspace");
    const args = target.args.map((word) => (isFolder(word) ? workspace : word));
    const own = Object.entries(target.env).filter(([name]) => !surroundings.test(name));
    const env = Object.fromEntries(own.map(([name, value]) => [name, this.#mock(name, value)]));
    for (const name of honeyVariables) env[name] ??= this.#canary("variable", name);
    const { name: user, language, zone } = this.#user;
    for (const [name, value] of Object.entries({ USER: user, LOGNAME: user, LANG: language, TZ: zone })) {
      if (env[name] === undefined || this.#user !== usualUser) env[name] = value;
    }
    // Programs are found as in a shell of the user.
    const path = target.env["PATH"] ?? process.env["PATH"];
    return { ...target, args, env: path === undefined ? env : { PATH: path, ...env }, workspace };
  }

  /** Texts of everything that the server left in its temporary folder, and of what is new in its home. */
  leftovers(): readonly string[] {
    const files = [...filesBelow(this.path("temporary")), ...filesBelow(this.path("home"))];
    return files
      .filter((file) => !this.#planted.has(file))
      .map((file) => attempt(() => readFileSync(file, "latin1").slice(0, leftoverMax), ""));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Short settings stay, since many servers do not start without; what is long or named like a key is a canary. */
  #mock(name: string, value: string): string {
    const isKey =
      /key|token|secret|passw|auth|cred|cookie|session|dsn|url|uri/i.test(name) || value.length >= tokenCharacters;
    return isKey ? this.#canary("variable", name) : value;
  }

  #canary(kind: "file" | "variable" | "name", name: string): string {
    const place = { kind, name: name.replace(/^home\//, "~/") };
    // A server that starts again finds the variables of its first start.
    const known = this.canaries.find((one) => one.place.kind === kind && one.place.name === place.name);
    if (known !== undefined) return known.token;
    const token = this.#tokens();
    this.canaries.push({ token, place });
    return token;
  }

  #plant(name: string, text: string): void {
    const file = join(this.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    this.#planted.add(file);
  }
}

const leftoverMax = 65_536;
const filesMax = 256;

function filesBelow(folder: string): readonly string[] {
  const entries = attempt(() => readdirSync(folder, { recursive: true, withFileTypes: true }), []);
  return entries
    .filter((one) => one.isFile())
    .slice(0, filesMax)
    .map((one) => join(one.parentPath, one.name));
}

/** An existing folder of the user, in which no code of the server can be: its entry names that as a file. */
function isFolder(word: string): boolean {
  return isAbsolute(word) && attempt(() => statSync(word).isDirectory(), false);
}
