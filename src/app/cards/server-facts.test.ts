// What a card says of a server is seen on terminals, over HTTP and in logs: no way in which secrets stand in commands shows one.
import { describe, expect, it, test } from "vitest";
import { looksSecret } from "./secret-words.ts";
import { serverFacts } from "./server-facts.ts";

const local = (command: string, args: readonly string[], env: Record<string, string> = {}) =>
  serverFacts({ kind: "stdio", command, args, env, workingDirectory: "/" });

/** A password that has no form of its own, and one that a service made. */
const secrets = ["hunter2", `ghp_${"a1B2".repeat(9)}`];

const ways: readonly (readonly [string, (secret: string) => readonly string[]])[] = [
  ["behind an option", (s) => ["--api-key", s]],
  ["behind an option in camel case", (s) => ["--authToken", s]],
  ["in an option", (s) => [`--token=${s}`]],
  ["in an option with a colon", (s) => [`--token:${s}`]],
  ["behind an option whose name says nothing", (s) => ["--user", s, "-u", s, "-p", s]],
  ["in an option whose name says nothing", (s) => [`--with=${s}`]],
  ["joined to a short option", (s) => [`-p${s}`]],
  ["joined to a property", (s) => [`-Dtoken=${s}`]],
  ["in a variable behind an option", (s) => ["-e", `GITHUB_TOKEN=${s}`, "--env", `SETTING=${s}`]],
  ["in a variable in an option", (s) => [`--env=TOKEN=${s}`]],
  ["in a variable as a word", (s) => [`API_KEY=${s}`, `OTHER=${s}`]],
  ["in a header", (s) => ["--header", `Authorization: Bearer ${s}`, "-H", `X-Anything: ${s}`]],
  ["in a header without a space", (s) => ["--header", `Authorization:${s}`]],
  ["in a header in an option", (s) => [`--header=Authorization:${s}`]],
  ["as the password of an address", (s) => [`postgres://user:${s}@db.example/name`]],
  ["as the user of an address", (s) => [`https://${s}@db.example/name`]],
  ["as the password of an address in an option", (s) => [`--url=postgres://user:${s}@db.example/name`]],
  ["as a password with a slash", (s) => [`postgres://user:12/${s}@db.example/name`, `redis://${s}/x@db.example`]],
  ["as a password with a mark of a query", (s) => [`postgres://user:12?${s}@db.example/name`]],
  ["in an address of JDBC", (s) => [`jdbc:postgresql://db.example/name?user=x&password=${s}`]],
  ["in the path of an address", (s) => [`https://mcp.example/s/${s}/mcp`]],
  ["in the query of an address", (s) => [`https://mcp.example/mcp?key=${s}`]],
  ["behind the hash of an address", (s) => [`https://mcp.example/mcp#${s}`]],
  ["in an address that is none", (s) => [`https://[${s}]/`, `https:${s}`, `//${s}@db.example:x`]],
  ["as the host of a scheme of its own", (s) => [`vault://${s}`]],
  ["as the scheme of an address", (s) => [`${s}-and-more-of-it-to-be-long://db.example`]],
  ["in a connection string", (s) => [`Server=db.example;User=sa;Password=${s}`]],
  ["as user and password", (s) => [`scott/${s}@db`, `scott:${s}`, `scott/${s}`]],
  ["as a bare word", (s) => ["serve", s]],
  ["as the word behind a path", (s) => ["./data", s]],
  ["in JSON", (s) => ["--config", `{"token":"${s}"}`, `--config={"token":"${s}"}`]],
  ["in base64", (s) => [Buffer.from(`{"token":"${s}"}`).toString("base64")]],
  ["in a script", (s) => ["-c", `TOKEN=${s} node app.js`, `curl -u x:${s} https://h.example`]],
  ["behind a path", (s) => [`/data?token=${s}`, `/data#${s}`, `/data:${s}`, `./x=${s}`, `/srv,${s}`, `/srv ${s}`]],
  ["as a path behind an option", (s) => ["--password", `/${s}`, `--secret=/${s}`]],
  ["before the host of a name of a file", (s) => [`${s}@db.example.sh`, `user:${s}@x.py`]],
];

describe("secrets in commands", () => {
  const all = secrets.flatMap((secret) => ways.map(([way, args]) => [way, args(secret), secret] as const));
  it.each(all)("attack: %s are not shown", (_way, args, secret) => {
    for (const [command, before] of [
      ["node", ["app.js"]],
      ["npx", ["-y", "@acme/app"]],
      ["docker", ["run", "-i", "--rm"]],
      ["uvx", ["app"]],
    ] as const) {
      const shown = JSON.stringify(local(command, [...before, ...args]));
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(Buffer.from(secret).toString("base64").replace(/=+$/, ""));
    }
  });

  it("attack: of a path with a key only the other segments are shown", () => {
    const { starts, files } = local("node", ["/srv/T0/aB3dE5gH7jK9/app.js", `/x/${secrets[1]}`, "/srv/data"]);
    expect(starts).toBe("node /srv/T0/…/app.js /x/… /srv/data");
    expect(files).toEqual(["/srv/T0/…/app.js", "/x/…", "/srv/data"]);
  });

  it("attack: a command that is a script, or holds a key, is not shown", () => {
    expect(local("TOKEN=hunter2 node", []).starts).toBe("…");
    expect(local(secrets[1] ?? "", []).starts).toBe("…");
    expect(local("/usr/bin/node", []).starts).toBe("/usr/bin/node");
  });

  it.each([
    ["uvx", ["--from", "git+https://hunter2@github.com/acme/app", "app"], "git+https://github.com/acme/app"],
    ["uvx", ["--from", "git+https://u:hunter2@git.example/acme/app", "app"], undefined],
    ["npx", ["-y", "https://x.example/hunter2.tgz"], undefined],
    ["npx", ["--registry", "https://hunter2@npm.example", "app"], "app"],
    ["npx", ["--auth", "hunter2", "app"], undefined],
    ["uvx", ["-p", "3.12", "app"], "app"],
    ["uvx", ["--from=app==1", "run"], "app"],
  ])("attack: %s %j names no secret as its package", (command, args, name) => {
    const facts = local(command, args);
    expect(JSON.stringify(facts)).not.toContain("hunter2");
    expect(facts.package?.name).toBe(name);
  });

  it("an address of a server is its scheme and host", () => {
    const remote = (url: string) => serverFacts({ kind: "http", url, flavour: "auto", headers: {} });
    expect(remote("https://u:hunter2@mcp.example:8443/s/hunter2/mcp?k=hunter2").starts).toBe(
      "https://mcp.example:8443/…",
    );
    expect(remote(`https://${"a1B2".repeat(9)}.run.example/`).hosts).toEqual(["….run.example"]);
    expect(remote("postgres://db.example/x").starts).toBe("postgres://db.example/…");
  });
});

test("what is no secret is still shown", () => {
  const facts = local("npx", ["-y", "@acme/app@1.2.3", "--allow-write", "--dir=/srv/data", "~/notes", "dist/index.js"]);
  expect(facts.starts).toBe("npx -y @acme/app@1.2.3 --allow-write --dir=/srv/data ~/notes dist/index.js");
  expect(facts.files).toEqual(["/srv/data", "~/notes"]);
  const sql = local("C:\\node\\node.exe", [
    "C:\\srv\\app.js",
    "--url=postgres://u:p@db.example:5432/x",
    "-e",
    "PGPASSWORD=x",
  ]);
  expect(sql.starts).toBe("C:\\node\\node.exe C:\\srv\\app.js --url=postgres://db.example:5432/… -e …");
  expect(sql.hosts).toEqual(["db.example:5432"]);
  expect(sql.account).toEqual(["PGPASSWORD"]);
  expect(local("node", ["a.js", "-e", "GITHUB_TOKEN=x", "-H", "Authorization: x"]).account).toEqual([
    "GITHUB_TOKEN",
    "Authorization",
  ]);
});

test("names in camel case are names of secrets too", () => {
  for (const name of ["authToken", "clientSecret", "--apiKey", "SESSION", "x-signature", "tokens"])
    expect(looksSecret(name)).toBe(true);
  for (const name of ["PWD", "keyboard", "--keep", "author", "monkey"]) expect(looksSecret(name)).toBe(false);
});
