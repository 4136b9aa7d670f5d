import { describe, expect, test } from "vitest";
import { npmSettings, proxyOf } from "./npm-settings.ts";
import { npmPackage } from "./package-spec.ts";
import { pythonSettings } from "./python-settings.ts";

const packages = (...names: readonly string[]) => names.flatMap((name) => npmPackage(name) ?? []);
const npm = (files: object, environment = {}, names = ["server"], registry?: string) =>
  npmSettings(packages(...names), { files, environment, registry });

describe("settings of npm", () => {
  test("without any the registry is npm's own", () => {
    const found = npm({});
    expect(found).toMatchObject({ registry: "https://registry.npmjs.org/", files: [], proxy: undefined });
    expect(found.lines).toEqual(["registry=https://registry.npmjs.org/"]);
  });

  test("nearer places win: global, user, project, environment, command", () => {
    const files = { global: "registry=http://g/", user: "registry = http://u/x", project: 'registry="http://p/"' };
    expect(npm({ global: files.global }).registry).toBe("http://g/");
    expect(npm({ ...files, project: undefined }).registry).toBe("http://u/x/");
    expect(npm(files).registry).toBe("http://p/");
    expect(npm(files, { NPM_CONFIG_REGISTRY: "http://e" }).registry).toBe("http://e/");
    expect(npm(files, { npm_config_registry: "http://e" }, ["server"], "http://c").registry).toBe("http://c/");
    expect(npm({ user: "registry=file:///x\nregistry=not an address" }).registry).toBe("https://registry.npmjs.org/");
  });

  test("a scope has a registry of its own, and the step may reach both", () => {
    const found = npm({ user: "@my:registry=https://own/\n@other:registry=no" }, {}, ["@my/server"]);
    expect(found.registry).toBe("https://own/");
    expect(found.registries).toEqual(["https://own/", "https://registry.npmjs.org/"]);
  });

  test("variables are those of the environment, as npm reads them", () => {
    const user = "//r/:_authToken=${TOKEN}\n//r/:_auth=${NONE}\n//r/:_password=${NONE?}x\n//r/:email=\\${TOKEN}";
    expect(npm({ user }, { TOKEN: "t" }).lines.slice(0, 4)).toEqual([
      "//r/:_authToken=t",
      "//r/:_auth=${NONE}",
      "//r/:_password=x",
      "//r/:email=\\${TOKEN}",
    ]);
  });

  test("only what says where packages come from is taken over", () => {
    const user =
      "ignore-scripts=false\nscript-shell=/x\nprefix=/x\ngit=/x\n; note\n# note\ncafile=/ca\n//r/:keyfile=/key\nca[]=one\nca[]=two";
    const found = npm({ user });
    expect(found.lines.slice(0, -1)).toEqual(["cafile=/ca", "//r/:keyfile=/key", "ca[]=one", "ca[]=two"]);
    expect(found.files).toEqual(["/ca", "/key"]);
  });

  // A project's file comes with a repository.
  test("a project names a registry, and neither credentials nor variables", () => {
    const project = "registry=https://${TOKEN}.evil/\n@a:registry=https://p/\n//p/:_authToken=x\ncafile=/etc/shadow";
    const found = npm({ project }, { TOKEN: "secret" }, ["@a/x"]);
    expect(found.registry).toBe("https://p/");
    expect(found.lines).toEqual(["@a:registry=https://p/", "registry=https://registry.npmjs.org/"]);
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test("a line break in a variable makes no setting", () => {
    expect(npm({}, { npm_config_registry: "http://r/\nignore-scripts=false" }).lines).toHaveLength(1);
  });

  test("a proxy is named, unless the registry is excluded from it", () => {
    expect(npm({ user: "https-proxy=http://proxy:1\nproxy=null" }).proxy).toBe("http://proxy:1");
    expect(npm({ user: "proxy=null" }).proxy).toBeUndefined();
    expect(npm({}, { HTTPS_PROXY: "http://proxy" }).proxy).toBe("http://proxy");
    expect(npm({}, { https_proxy: "http://proxy", NO_PROXY: ".npmjs.org" }).proxy).toBeUndefined();
    expect(proxyOf({ all_proxy: "socks://x", no_proxy: "*" }, "https://a/")).toBeUndefined();
    expect(proxyOf({ HTTP_PROXY: "http://x", no_proxy: ", b" }, "http://a/")).toBe("http://x");
    expect(proxyOf({ HTTP_PROXY: "http://x" }, "http://localhost:1/")).toBeUndefined();
    expect(proxyOf({ HTTP_PROXY: "http://x" }, "no address")).toBeUndefined();
  });
});

describe("settings of pip and uv", () => {
  const python = (environment: Record<string, string>, files: readonly string[] = [], index?: string) =>
    pythonSettings({ environment, files, index });

  test("without any the index is PyPI, with the host of its files", () => {
    expect(python({})).toMatchObject({
      index: "https://pypi.org/simple",
      addresses: ["https://pypi.org/simple", "https://files.pythonhosted.org/"],
      folders: [],
      proxy: undefined,
    });
  });

  test("of the command, uv, pip and its files, in this order", () => {
    const files = ["[global]\nindex-url = https://etc/\n", "[install]\nindex-url: https://own/\n[other]\nindex-url=no"];
    expect(python({}, files).index).toBe("https://own/");
    expect(python({ PIP_INDEX_URL: "https://pip/" }, files).index).toBe("https://pip/");
    expect(python({ UV_INDEX_URL: "https://uv/", PIP_INDEX_URL: "https://pip/" }).index).toBe("https://uv/");
    expect(python({ UV_DEFAULT_INDEX: "https://uv/" }, [], "https://given/").index).toBe("https://given/");
  });

  test("values go on over lines, and extra indexes have names", () => {
    const found = python({}, [
      "[global]\nextra-index-url =\n  https://a/\n  file:///opt/x/simple\nfind_links = /opt/wheels",
    ]);
    expect(found.addresses).toContain("https://a/");
    expect(found.folders).toEqual(["/opt/x/simple", "/opt/x", "/opt/wheels"]);
    expect(python({ UV_INDEX: "own=https://own/" }).addresses).toContain("https://own/");
  });

  test("credentials of an index reach the installer alone", () => {
    const found = python({ PIP_INDEX_URL: "https://me:secret@own/simple", PIP_CERT: "/ca" });
    expect(found.index).toBe("https://own/simple");
    expect(found.variables).toMatchObject({ PIP_INDEX_URL: "https://me:secret@own/simple", SSL_CERT_FILE: "/ca" });
    expect(found.files).toEqual(["/ca"]);
  });

  test("a proxy is named", () => {
    expect(python({ PIP_PROXY: "http://p" }).proxy).toBe("http://p");
    expect(python({ https_proxy: "http://p", no_proxy: "pypi.org" }).proxy).toBeUndefined();
  });
});
