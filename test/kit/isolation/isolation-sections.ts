/** Sections `isolation` made by chance, and the same section written down in another order. */
import fc from "fast-check";
import { isPlainObject } from "../../../src/core/json.ts";

const some = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(values, { maxLength: 3 });
const path = fc.constantFrom("/data", "/data/x", "~/notes", "./out", "/srv/www");
const host = fc.constantFrom("a.example", "A.example:443", "*.b.example:8443", "10.0.0.5:5432", "localhost:5432");
const program = fc.constantFrom("git", "node", "/usr/bin/make");
const variable = fc.constantFrom("API_URL", "TZ", "API_TOKEN");
const optional = { requiredKeys: [] };

const toolScope = fc.record(
  { read: some(path), write: some(path), allow: some(host), programs: some(program) },
  optional,
);

const scopeParts = {
  files: fc.record(
    {
      read: some(path),
      write: some(path),
      deny: some(path),
      workspace: fc.record(
        {
          mode: fc.constantFrom("overlay", "read", "none"),
          per: fc.constantFrom("call", "run"),
          quotaMb: fc.nat(9).map((n) => n + 1),
        },
        optional,
      ),
    },
    optional,
  ),
  net: fc.oneof(
    fc.record({ allow: some(host), callBytesMax: fc.constant(9) }, optional),
    fc.constant({ mode: "list" }),
  ),
  exec: fc.oneof(fc.record({ programs: some(program) }, optional), fc.constant({ mode: "none" })),
  env: fc.record({ pass: some(variable), set: fc.dictionary(variable, fc.constantFrom("a", "b")) }, optional),
  sockets: some(fc.constantFrom("/srv/a.sock", "/srv/b.sock")),
  limits: fc.record({ memoryMb: fc.constantFrom(64, 128), processes: fc.constantFrom(8, 16) }, optional),
  trace: fc.constantFrom("full", "effects", "none"),
  serial: fc.boolean(),
  onViolation: fc.constantFrom("reject", "revoke", "end"),
};

const server = fc.record(
  {
    ...scopeParts,
    backend: fc.constantFrom("auto", "learn"),
    require: fc.constantFrom("strict", "A", "B", "none"),
    tools: fc.dictionary(fc.constantFrom("t", "u"), toolScope),
  },
  optional,
);

export const isolationSections = fc.record(
  {
    require: fc.constantFrom("strict", "A-", "none"),
    defaults: fc.record(scopeParts, optional),
    servers: fc.dictionary(fc.constantFrom("s", "t"), server),
    link_inputs: fc.constant(false),
  },
  optional,
);

/** The value with its keys and lists in another order and entries of lists written twice, as `seed` says. */
export function shuffled(value: unknown, seed: number): unknown {
  const turned = <T>(items: readonly T[]): readonly T[] => {
    const at = items.length === 0 ? 0 : Math.abs(seed) % items.length;
    return seed % 2 === 0 ? [...items.slice(at), ...items.slice(0, at)] : items.toReversed();
  };
  if (Array.isArray(value)) return turned([...value, ...value.slice(0, 1)]);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(turned(Object.entries(value)).map(([key, item]) => [key, shuffled(item, seed)]));
}
