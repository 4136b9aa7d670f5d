/** What of the environment a server gets: little, unless its scope names it. */
import type { EnvironmentScope } from "../../core/scope.ts";

/** Variables that say how text and time are written; they hold no secret. */
const plainNames = ["LANG", "LC_ALL", "TZ", "TERM"];
const systemFolders = ["/usr/local/bin", "/usr/bin", "/bin"];
/** Names told in one note. */
const namesMax = 8;

/** A name that looks as if its value opened something. */
const credential = /(token|secret|passw|credential|api_?key|access_?key|private_?key|auth|_key$|_pat$)/i;

export type ServerEnvironment = {
  readonly variables: Readonly<Record<string, string>>;
  /** Sentences about what was withheld, by name and never by value. */
  readonly notes: readonly string[];
};

export function serverEnvironment(
  given: Readonly<Record<string, string>>,
  scope: EnvironmentScope,
  place: { readonly home: string; readonly user: string; readonly programFolders: readonly string[] },
): ServerEnvironment {
  const folders = [...new Set([...place.programFolders, ...systemFolders])];
  const plain = pick(given, plainNames);
  const base = { ...plain, PATH: folders.join(":"), HOME: place.home, USER: place.user, TMPDIR: "/tmp" };
  const variables = { ...base, ...pick(given, scope.pass), ...scope.set };
  const withheld = Object.keys(given).filter((name) => !Object.hasOwn(variables, name) && credential.test(name));
  return { variables, notes: withheld.length === 0 ? [] : [withheldNote(withheld)] };
}

function pick(given: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = given[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function withheldNote(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).map((name) => name.replace(/\W/g, "?").slice(0, 40));
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : "";
  return `Not passed to the server: ${shown.join(", ")}${more}. Name it in isolation.env.pass if the server needs it.`.slice(
    0,
    240,
  );
}
