/** The environment variables of a server: few, unless its scope names more. */
import type { EnvironmentScope, IsolationOrder } from "../../../core/isolation/scope.ts";

/** Variables for the locale, time zone and terminal; they hold no secret. */
const plainNames = ["LANG", "LC_ALL", "TZ", "TERM"];
const systemFolders = ["/usr/local/bin", "/usr/bin", "/bin"];
/** Number of names listed in one note. */
const namesMax = 8;
const listCharactersMax = 130;

/** A name that looks like that of a credential. */
const credential = /(token|secret|passw|credential|api_?key|access_?key|private_?key|auth|_key$|_pat$)/i;

export type ServerEnvironment = {
  readonly variables: Readonly<Record<string, string>>;
  /** Sentences about withheld variables, by name and never by value. */
  readonly notes: readonly string[];
};

/**
 * The variables that an order lets through. By default those are of the entry that configures the server, too: its user
 * wrote them down for this server.
 */
export function passedVariables(
  { mode, scope }: IsolationOrder,
  named: readonly string[] = [],
): Pick<EnvironmentScope, "pass" | "set"> {
  const { pass, set } = scope.environment;
  return mode === "where-possible" ? { pass: [...new Set([...pass, ...named])], set } : { pass, set };
}

export function serverEnvironment(
  given: Readonly<Record<string, string>>,
  scope: Pick<EnvironmentScope, "pass" | "set">,
  place: { readonly home: string; readonly user: string; readonly programFolders: readonly string[] },
): ServerEnvironment {
  const folders = [...new Set([...place.programFolders, ...systemFolders])];
  const plain = pick(given, plainNames);
  const base = { ...plain, PATH: folders.join(":"), HOME: place.home, USER: place.user, TMPDIR: "/tmp" };
  const variables = { ...base, ...pick(given, scope.pass), ...atHome(scope.set, place.home) };
  const withheld = Object.keys(given).filter((name) => !Object.hasOwn(variables, name) && credential.test(name));
  // A server without its key starts, and fails in each call with words of its own.
  const unset = scope.pass.filter((name) => !Object.hasOwn(variables, name) && credential.test(name));
  return {
    variables,
    notes: [
      ...(withheld.length === 0 ? [] : [withheldNote(withheld)]),
      ...(unset.length === 0
        ? []
        : [`Not set here: ${listed(unset)}. If the server needs it, set it in the client's configuration.`]),
    ],
  };
}

/** A value `~/x` is a path below the home folder: the server's own programs would not expand it. */
function atHome(set: Readonly<Record<string, string>>, home: string): Readonly<Record<string, string>> {
  const values = Object.entries(set).map(([name, value]) => [
    name,
    value.startsWith("~/") ? home + value.slice(1) : value,
  ]);
  return Object.fromEntries(values);
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
  return `Not passed to the server: ${listed(names)}. If it needs one, name it in \`env.pass\` under isolation.servers.`;
}

/** Short enough for a sentence of 240 characters. */
function listed(names: readonly string[]): string {
  const all = names.slice(0, namesMax).map((name) => name.replace(/\W/g, "?").slice(0, 40));
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : "";
  const text = `${all.join(", ")}${more}`;
  return text.length <= listCharactersMax ? text : `${text.slice(0, listCharactersMax - 1)}…`;
}
