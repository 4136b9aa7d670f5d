/** Values that an argument could have: from the policy's own traces, from its tests, from the schema of the tool. */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../src/core/json.ts";
import type { ReadingLanguage } from "../../src/core/reading.ts";
import type { CompiledPolicy } from "../../src/policy/compile/compile.ts";
import type { ArgumentTest } from "../../src/policy/ir/ir.ts";

export const workspace = "/home/ann/project";

/** Words of every kind, for tests that only want something plain. */
const ordinary: readonly Json[] = [
  `${workspace}/notes.txt`,
  "/srv/other/notes.txt",
  "plain",
  "https://example.org/page",
  "ann@example.org",
  ".",
  "-x",
  1,
  0,
  -1,
  true,
  false,
  1e9,
];

/** Values of an argument in the `expect:` traces of the policy, of this tool first; what a result fills in is left out. */
export function fromTraces({ policy }: CompiledPolicy, tool: string, argument: string): readonly Json[] {
  const found: { readonly own: boolean; readonly value: Json }[] = [];
  for (const { trace } of policy.expect) {
    for (const step of trace) {
      if (typeof step === "string") continue;
      for (const [name, given] of Object.entries(step)) {
        // Plain data of a policy that was read from JSON.
        const value = member(given as Json, argument);
        if (value === undefined || JSON.stringify(value).includes("{") === true) continue;
        found.push({ own: name === tool || name.endsWith(`.${tool}`), value });
      }
    }
  }
  return found.toSorted((left, right) => Number(right.own) - Number(left.own)).map(({ value }) => value);
}

/** Values that pass a test, or nearly; the caller tries them. */
export function fromTest(test: ArgumentTest): readonly Json[] {
  switch (test.kind) {
    case "present":
      return [];
    case "equals":
      return test.values;
    case "glob":
      return test.patterns.flatMap(filled);
    case "domain":
      return test.domains.flatMap((domain) => [`https://${domain}/page`, `ann@${domain}`, domain]);
    case "path":
      return test.prefixes.map((prefix) => `${prefix}/x`);
    case "cidr":
      return test.blocks.flatMap((block) => {
        const [address = ""] = block.split("/");
        return [`http://${address.includes(":") ? `[${address}]` : address}/`, address];
      });
    case "regex":
      return sampled(test.pattern);
    case "range":
      return [test.min, test.max].flatMap((end) =>
        end === undefined ? [] : [Number(end), Number(end) - 1, Number(end) + 1],
      );
    case "schema":
      return fromSchema(test.schema);
    case "reads":
      return readable[test.language];
    case "some":
    case "not":
      return fromTest(test.test);
    case "all":
    case "any":
      return test.tests.flatMap(fromTest);
  }
}

const drops = "DROP TABLE t";
/** Texts of each language: one that only reads, and one that acts. */
const readable: { readonly [language in ReadingLanguage]: readonly string[] } = {
  docker: ["docker ps", "docker rm x"],
  git: ["git log", "git push"],
  http: ["GET", "POST"],
  kubectl: ["kubectl get pods", "kubectl delete pod x"],
  shell: ["ls", "rm x"],
  sql: ["SELECT 1", drops],
  "sql:mariadb": ["SELECT 1", drops],
  "sql:mysql": ["SELECT 1", drops],
  "sql:postgres": ["SELECT 1", drops],
  "sql:sqlite": ["SELECT 1", drops],
  ssh: ["ssh host ls", "ssh host rm x"],
};

function filled(pattern: string): readonly string[] {
  const text = pattern
    .replace(/^\*\*\//, "")
    .replaceAll("**", "a/b")
    .replaceAll("*", "x")
    .replaceAll("?", "y");
  return [text, `${workspace}/${text}`, pattern];
}

/** A regular expression is not turned round: its words and signs, alone and as a sentence, are what it could look for. */
function sampled(pattern: string): readonly string[] {
  const plain = pattern.replaceAll(/\(\?[a-z]+\)|\\[bBdDsSwWnrt]/g, " ").replaceAll("\\", "");
  const words = [...plain.matchAll(/[A-Za-z_]{2,}/g)].map(([word]) => word);
  const marked = [...plain.matchAll(/([^\w\s()|]+)\(?([A-Za-z]+)/g)].map(([, sign, word]) => `${sign}${word}`);
  const signs = [...plain.matchAll(/[^\w\s]/g)].map(([sign]) => sign);
  return [
    ...words,
    ...words.map((word) => `${word} thing`),
    ...marked,
    ...signs,
    ...signs.map((sign) => `${sign}x`),
    "select 1",
  ];
}

/** Values that the schema of an argument names or describes, the plainest last. */
export function fromSchema(schema: Json | undefined): readonly Json[] {
  const named = [member(schema, "const"), member(schema, "default")].filter((value) => value !== undefined);
  const listed = [member(schema, "enum"), member(schema, "examples")].flatMap((value) => (isArray(value) ? value : []));
  const either = member(schema, "anyOf") ?? member(schema, "oneOf");
  const inner = isArray(either) ? either.flatMap(fromSchema) : [];
  return [...named, ...listed, ...inner, ...typical(schema)];
}

function typical(schema: Json | undefined): readonly Json[] {
  const plain: Readonly<Record<string, () => readonly Json[]>> = {
    string: () => ["plain"],
    integer: () => [1],
    number: () => [1],
    boolean: () => [true, false],
    array: () => [fromSchema(member(schema, "items")).slice(0, 1)],
    object: () => [objectOf(schema)],
  };
  return plain[stringMember(schema, "type") ?? ""]?.() ?? [];
}

function objectOf(schema: Json | undefined): JsonObject {
  const properties = member(schema, "properties");
  const required = member(schema, "required");
  const names = isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const entries = names.flatMap((name) =>
    fromSchema(member(properties, name))
      .slice(0, 1)
      .map((value) => [name, value]),
  );
  return Object.fromEntries(entries) as JsonObject; // pairs of a name and a value of JSON
}

export function plainCandidates(schema: Json | undefined, tests: readonly ArgumentTest[]): readonly Json[] {
  const values = [...fromSchema(schema), ...tests.flatMap(fromTest), ...ordinary];
  // Where a schema wants a list, each value is tried as its only element, too.
  return stringMember(schema, "type") === "array" ? [...values, ...values.map((value) => [value])] : values;
}

/** Each value with the secrets in it, at every place where a text can be; then the secrets by themselves. */
export function carrying(
  values: readonly Json[],
  secrets: readonly string[],
  schema: Json | undefined,
): readonly Json[] {
  const secret = secrets.join(" ");
  const joined = secrets.join("-");
  const texts = [
    secret,
    `https://example.org/?q=${joined}`,
    `${workspace}/${joined}`,
    `/srv/other/${joined}`,
    `${joined}@example.org`,
    `select '${secret}'`,
  ];
  const inside = values.flatMap((value) => [
    ...mapTexts(value, (text) => `${text} ${secret}`),
    ...mapTexts(value, (text) => `${text}/${joined}`),
    ...mapTexts(value, (text) => `${joined}${text}`),
    ...mapTexts(value, () => secret),
  ]);
  const listed = stringMember(schema, "type") === "array" ? texts.map((text) => [text]) : [];
  return [...(listed.length > 0 ? [] : texts), ...inside, ...listed, ...texts];
}

/** The value with its texts changed, or nothing if it has none. */
function mapTexts(value: Json, change: (text: string) => string): readonly Json[] {
  let changed = false;
  const walk = (one: Json): Json => {
    if (typeof one === "string") {
      changed = true;
      return change(one);
    }
    if (isArray(one)) return one.map(walk);
    if (isObject(one)) return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, walk(inner)]));
    return one;
  };
  const result = walk(value);
  return changed ? [result] : [];
}
