/** Names of packages with their versions, as the two registries read them. Pure. */

/** A package of a registry: `text` is the normal spelling, `wanted` the version or range, empty where none is named. */
export type PackageSpec = { readonly name: string; readonly wanted: string; readonly text: string };

const textMax = 256;

/** The npm registry's rules for names (validate-npm-package-name, with capitals as old packages have them). */
const npmName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$/;
/** A version, range or tag. Neither `:` nor `/`: those are aliases, files, addresses and repositories. */
const npmWanted = /^[\w.+~^<>=|* -]+$/;

/** `name`, `@scope/name`, each with `@version`; undefined for a path, an address or a repository. */
export function npmPackage(text: string): PackageSpec | undefined {
  if (text.length > textMax) return undefined;
  const at = text.indexOf("@", 1);
  const name = at < 0 ? text : text.slice(0, at);
  const wanted = at < 0 ? "" : text.slice(at + 1).trim();
  if (!npmName.test(name) || (at >= 0 && !npmWanted.test(wanted))) return undefined;
  if (wanted.startsWith("-")) return undefined;
  return { name, wanted, text: wanted === "" ? name : `${name}@${wanted}` };
}

/** PEP 508 names and extras, PEP 440 version specifiers. */
const pypiForm =
  /^(?<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?<extras>\[[A-Za-z0-9._, -]*\])?(?<wanted>(?:(?:===?|~=|!=|[<>]=?)[A-Za-z0-9.*+!_-]+)(?:,(?:===?|~=|!=|[<>]=?)[A-Za-z0-9.*+!_-]+)*)?$/;

/** `name`, `name[extra]==1.0`, and uv's `name@1.0`; undefined for a path, an address or a repository. */
export function pypiPackage(text: string): PackageSpec | undefined {
  if (text.length > textMax) return undefined;
  const plain = text.replaceAll(/\s+/g, "").replace(/@latest$/, "");
  const exact = /^([^@]+)@([A-Za-z0-9][A-Za-z0-9.+!_-]*)$/.exec(plain);
  const found = pypiForm.exec(exact === null ? plain : `${exact[1]}==${exact[2]}`)?.groups;
  if (found?.["name"] === undefined) return undefined;
  const name = found["name"].toLowerCase().replaceAll(/[-_.]+/g, "-");
  const wanted = found["wanted"] ?? "";
  return { name, wanted, text: `${name}${found["extras"] ?? ""}${wanted}` };
}
