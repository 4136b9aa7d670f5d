import { describe, expect, test } from "vitest";
import { fetchCommand, isProgram } from "./fetch-command.ts";
import { npmPackage, pypiPackage } from "./package-spec.ts";

const read = (line: string): ReturnType<typeof fetchCommand> => {
  const [command = "", ...args] = line.split(" ");
  return fetchCommand(command, args);
};

describe("commands that fetch a package", () => {
  test.each([
    ["npx -y @scope/server", "npm", "npx", ["@scope/server"], undefined, []],
    ["/usr/bin/npx server@1.2.3 --port 1", "npm", "npx", ["server@1.2.3"], undefined, ["--port", "1"]],
    ["npx --yes -p server -p other prog -x", "npm", "npx", ["server", "other"], "prog", ["-x"]],
    ["npx --package=server@^1 -- prog -p", "npm", "npx", ["server@^1"], "prog", ["-p"]],
    ["npx --yes=true --loglevel silent server@latest", "npm", "npx", ["server@latest"], undefined, []],
    ["npx.cmd -q server", "npm", "npx", ["server"], undefined, []],
    ["/x/npx-cli.js server", "npm", "npx", ["server"], undefined, []],
    ["npm exec -y server -- --flag", "npm", "npm exec", ["server"], undefined, ["--flag"]],
    ["npm x --package=server -- prog", "npm", "npm x", ["server"], "prog", []],
    ["bunx --bun server", "npm", "bunx", ["server"], undefined, []],
    ["bun x server a", "npm", "bun x", ["server"], undefined, ["a"]],
    ["pnpm dlx server", "npm", "pnpm dlx", ["server"], undefined, []],
    ["yarn dlx -q server", "npm", "yarn dlx", ["server"], undefined, []],
    ["uvx mcp-server-git --repository .", "pypi", "uvx", ["mcp-server-git"], undefined, ["--repository", "."]],
    ["uvx Some_Server@1.0", "pypi", "uvx", ["some-server==1.0"], undefined, []],
    ["uvx --from server[cli]>=1,<2 prog", "pypi", "uvx", ["server[cli]>=1,<2"], "prog", []],
    ["uvx --with extra server@latest", "pypi", "uvx", ["server", "extra"], undefined, []],
    ["uv tool run --python 3.12 server", "pypi", "uv tool run", ["server"], undefined, []],
    ["pipx run --spec server==1 prog", "pypi", "pipx run", ["server==1"], "prog", []],
  ])("%s", (line, ecosystem, runner, packages, program, args) => {
    const found = { kind: "fetch", ecosystem, runner, packages, program, args };
    expect(read(line)).toEqual({ ...found, registry: undefined, preReleases: false });
  });

  test("name a registry or ask for pre-releases", () => {
    expect(read("npx --registry=http://r/ server")).toMatchObject({ registry: "http://r/" });
    expect(read("uvx --prerelease allow --index-url https://i/simple s")).toMatchObject({
      registry: "https://i/simple",
      preReleases: true,
    });
    expect(read("uvx --prerelease=disallow s")).toMatchObject({ preReleases: false });
  });

  test.each(["node server.js", "npm start", "npm", "pnpm install", "uv run server.py", "uv", "docker run x", ""])(
    "%s is none",
    (line) => expect(read(line)).toBeUndefined(),
  );

  // A word that is taken for a package would install another program than the one that was meant.
  test.each([
    ["npx", "names no package"],
    ["npx -c ls", "option `-c` that is not known here"],
    ["npx --call=ls", "option `--call`"],
    ["npx -p", "without a value"],
    ["npx --prefix /x server", "option `--prefix`"],
    ["npx github:user/repository", "`github:user/repository`, which is not a package of a registry"],
    ["npx ./server.tgz", "`./server.tgz`"],
    ["npx ../x", "`../x`"],
    ["npx server@npm:other@1", "`server@npm:other@1`"],
    ["npx server@https://x/y.tgz", "is not a package of a registry"],
    ["npx -p server ../../bin/sh", "`../../bin/sh`, which is not a program of a package"],
    ["npm exec server --prefix=/x", "option `--prefix=/x`"],
    ["uvx --from git+https://x/y prog", "`git+https://x/y`"],
    ["uvx --directory /x server", "option `--directory`"],
    ["uvx server@file:///x", "is not a package of a registry"],
    ["pipx run --pip-args=--pre server", "option `--pip-args`"],
    [`npx ${"a".repeat(300)}`, "is not a package of a registry"],
  ])("%s is not resolvable", (line, reason) => {
    const found = read(line);
    expect(found).toMatchObject({ kind: "unresolvable" });
    expect(found?.kind === "unresolvable" ? found.reason : "").toContain(reason);
  });

  test("names are those of packages and programs, never options, paths or hidden files", () => {
    expect(["-x", ".x", "a/b", "", "a b"].some((name) => isProgram(name))).toBe(false);
    expect(npmPackage("-x")).toBeUndefined();
    expect(npmPackage("a@-x")).toBeUndefined();
    expect(npmPackage("a@")).toBeUndefined();
    expect(npmPackage("@a/../b")).toBeUndefined();
    expect(pypiPackage("-r")).toBeUndefined();
    expect(pypiPackage("a;python_version>'3'")).toBeUndefined();
    expect(pypiPackage("a".repeat(300))).toBeUndefined();
  });
});
