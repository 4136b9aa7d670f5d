/**
 * Truth of an argument test for a concrete value: total, without side effects, in time linear in the value.
 *
 * A test is about the leaves of a value: texts, numbers and constants inside lists and objects. Read plainly, every
 * leaf must pass, and a value without leaves fails: that is what a permission needs. Inside `some`, one leaf that passes
 * is enough, and a leaf that cannot be judged (too long, no such form) counts as passing: that is what a restriction
 * needs. `not` stands outside either, so neither a mixed list nor a strange spelling ever loosens a rule.
 *
 * A schema and a reading are about the whole value. A reading permits what surely only reads, and restricts what does not
 * surely act.
 */
import type { ReadValue } from "../../core/reading.ts";
import { type Json, isArray, isObject, isRawNumber } from "../../core/json.ts";
import { insideBlock, globMatches, regexFinds } from "../values/matchers.ts";
import type { ArgumentTest } from "../ir/ir.ts";
import { satisfies } from "../values/json-schema.ts";
import { testLeavesMax, testTextUnitsMax } from "../values/limits.ts";
import {
  addressOfNumber,
  homePatterns,
  hostPieces,
  isAmbiguousHost,
  isUrl,
  mappedHost,
  maybeInside,
  permittedSpellings,
  restrictedSpellings,
} from "../values/spellings.ts";
import { canonicalValue } from "../values/canonical-value.ts";
import { canonicalNumber, compareDecimal, parseDecimal } from "../values/decimal.ts";
import { canonicalPath, isInside } from "../values/path.ts";
import { normaliseText, valueInText } from "../values/text.ts";

type Reading = "every" | "some";
type Leaf = null | boolean | number | string | { readonly rawJSON: string };

/** Without a reader no value is known to read, and none to act. */
export const nothingRead: ReadValue = () => ({ kind: "unread", because: "there is no reader for it" });

export function evaluateTest(test: ArgumentTest, value: Json, read: ReadValue = nothingRead): boolean {
  switch (test.kind) {
    case "present":
      return true;
    case "not":
      return !evaluateTest(test.test, value, read);
    case "all":
      return test.tests.every((each) => evaluateTest(each, value, read));
    case "any":
      return test.tests.some((each) => evaluateTest(each, value, read));
    case "schema":
      return satisfies(test.schema, value) === true;
    case "reads":
      return read(test.language, value).kind === "reads";
    case "some":
      return someLeaf(test.test, value, read);
    case "equals":
    case "glob":
    case "domain":
    case "path":
    case "cidr":
    case "regex":
    case "range": {
      const leaves = leavesOf(value);
      return leaves !== undefined && leaves.length > 0 && leaves.every((leaf) => leafPasses(test, leaf, "every"));
    }
  }
}

function someLeaf(test: ArgumentTest, value: Json, read: ReadValue): boolean {
  if (test.kind === "schema") return satisfies(test.schema, value) !== false;
  if (test.kind === "reads") return read(test.language, value).kind !== "acts";
  const leaves = leavesOf(value, valueInText);
  return leaves === undefined || leaves.some((leaf) => leafHolds(test, leaf));
}

/** A test on one leaf in the restricting reading. */
function leafHolds(test: ArgumentTest, leaf: Leaf): boolean {
  switch (test.kind) {
    case "all":
      return test.tests.every((each) => leafHolds(each, leaf));
    case "any":
      return test.tests.some((each) => leafHolds(each, leaf));
    case "some":
      return leafHolds(test.test, leaf);
    case "equals":
    case "glob":
    case "domain":
    case "path":
    case "cidr":
    case "regex":
    case "range":
      return leafPasses(test, leaf, "some");
    case "present":
    case "not":
    case "schema":
    case "reads":
      return evaluateTest(test, leaf);
  }
}

/**
 * All leaves, or undefined if there are more, or is more text in them together, than a test looks at. What `inner` finds
 * in a text adds to it.
 */
function leavesOf(value: Json, inner?: (text: string) => Json | undefined): readonly Leaf[] | undefined {
  const found: Leaf[] = [];
  const open: Json[] = [value];
  let seen = 0;
  let units = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    seen += 1;
    if (seen > testLeavesMax || open.length > testLeavesMax) return undefined;
    if (isArray(next)) open.push(...next.slice(0, testLeavesMax + 1));
    else if (isObject(next)) open.push(...Object.values(next).slice(0, testLeavesMax + 1));
    else {
      units += typeof next === "string" ? next.length : 1;
      if (units > testTextUnitsMax && found.length > 0) return undefined;
      found.push(next);
      const more = typeof next === "string" ? inner?.(next) : undefined;
      if (more !== undefined) open.push(more);
    }
  }
  return found;
}

type LeafTest = Extract<
  ArgumentTest,
  { readonly kind: "equals" | "glob" | "domain" | "path" | "cidr" | "regex" | "range" }
>;

function leafPasses(test: LeafTest, leaf: Leaf, reading: Reading): boolean {
  if (test.kind === "equals") return test.values.some((value) => equalLeaf(value, leaf, reading));
  if (test.kind === "range") return inRange(test, leaf, reading);
  const text = textOf(leaf);
  if (text === undefined) return false;
  if (text.length > testTextUnitsMax) return reading === "some";
  switch (test.kind) {
    case "glob":
      return test.patterns.some((pattern) => globHolds(pattern, text, reading));
    case "domain":
      return hostsOf(text, reading).some((host) => test.domains.some((domain) => belongs(host, domain)));
    case "path":
      return pathHolds(test.prefixes, text, reading);
    case "cidr":
      return test.blocks.some((block) => addressesOf(text, reading).some((address) => insideBlock(block, address)));
    case "regex":
      return regexFinds(test.pattern, text) === true;
  }
}

function textOf(leaf: Leaf): string | undefined {
  if (typeof leaf === "string") return leaf;
  if (typeof leaf === "number") return String(leaf);
  return isRawNumber(leaf) ? leaf.rawJSON : undefined;
}

/** Servers turn `"5"` into 5 and back, and "Yes" into true; what restricts must not depend on which the model wrote. */
function equalLeaf(value: string | number | boolean | null, leaf: Leaf, reading: Reading): boolean {
  if (reading === "some" && typeof value === "boolean") return spoken[`${value}`].test(textOfLeaf(leaf).trim());
  if (reading === "some" && typeof value !== "number") {
    return normaliseText(String(value)) === normaliseText(textOfLeaf(leaf));
  }
  if (typeof value !== "number") return value === leaf;
  const right = reading === "some" && typeof leaf === "string" ? parseDecimal(leaf.trim()) : canonicalNumber(leaf);
  if (right === undefined) return reading === "some" && isRawNumber(leaf);
  return compareDecimal(String(value), right) === 0;
}

const spoken = { true: /^(?:true|t|yes|y|on|1)$/i, false: /^(?:false|f|no|n|off|0)$/i } as const;

function textOfLeaf(leaf: Leaf): string {
  return typeof leaf === "string" ? leaf : isRawNumber(leaf) ? leaf.rawJSON : String(leaf);
}

/** Amounts may come as text; neither other text nor a number with too many digits can be judged. */
function inRange(test: Extract<LeafTest, { kind: "range" }>, leaf: Leaf, reading: Reading): boolean {
  const exact = typeof leaf === "string" ? parseDecimal(leaf.trim()) : canonicalNumber(leaf);
  if (exact === undefined) return reading === "some" && (typeof leaf === "string" || isRawNumber(leaf));
  const low = test.min === undefined ? 1 : compareDecimal(exact, test.min);
  const high = test.max === undefined ? -1 : compareDecimal(exact, test.max);
  return low !== undefined && high !== undefined && low >= 0 && high <= 0;
}

/**
 * A path can be spelt in many ways (`a//b`, `a/./b`, and with other case on some systems). A permission must hold for
 * the spelling and the normal form, a restriction for either, whatever the case of the letters.
 */
function globHolds(pattern: string, text: string, reading: Reading): boolean {
  if (reading === "every") {
    const spellings = permittedSpellings(pattern, text);
    return spellings !== undefined && spellings.every((spelling) => globMatches(pattern, spelling, false));
  }
  const spellings = restrictedSpellings(pattern, text);
  if (spellings === undefined) return true;
  const fold = pattern.includes("/") && !isUrl(text);
  return homePatterns(pattern.normalize("NFC")).some((own) =>
    spellings.some((spelling) => globMatches(own, spelling, fold)),
  );
}

function pathHolds(prefixes: readonly string[], text: string, reading: Reading): boolean {
  const path = canonicalPath(text);
  // A relative path could be anywhere: its reader may resolve it from another folder. So could `\\?\C:\x`, a device.
  const known = path !== undefined && /^(?:\/|~|[A-Z]:\/|\\\\(?![?.]\/))/.test(path);
  if (reading === "some") return !known || prefixes.some((prefix) => maybeInside(path, prefix));
  return path !== undefined && prefixes.some((prefix) => isInside(path, prefix));
}

/** Addresses that a text could mean; in the restricting reading every one that it mentions, however it is spelt. */
function addressesOf(text: string, reading: Reading): readonly string[] {
  if (reading === "every") return isAmbiguousHost(text) ? [] : [text];
  return [text, ...hostPieces(text).flatMap((piece) => [piece, addressOfNumber(piece) ?? piece])];
}

/** Host of an address or URL; in the restricting reading every host that the text mentions. */
function hostsOf(text: string, reading: Reading): readonly string[] {
  const whole = reading === "every" && isAmbiguousHost(text) ? undefined : hostOf(text.trim());
  if (reading === "every") return whole === undefined ? [] : [whole];
  const mentioned = hostPieces(text).flatMap((piece) => [hostOf(piece), mappedHost(piece)]);
  return [whole, ...mentioned].filter((host) => host !== undefined);
}

function hostOf(text: string): string | undefined {
  if (text === "" || text.length > 2_048) return undefined;
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text)) {
    const url = URL.canParse(text) ? new URL(text).hostname : undefined;
    return url === undefined || url === "" ? undefined : (canonicalValue("domain", url) ?? url);
  }
  if (text.includes("@")) {
    const address = /^mailto:/i.test(text) ? text.slice(7) : text;
    return canonicalValue("email", address)?.split("@").at(-1);
  }
  return canonicalValue("domain", text.replace(/:[0-9]{1,5}$/, ""));
}

function belongs(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
