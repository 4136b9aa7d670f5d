/** The body of `POST /runs` (gateway.md 4), read strictly: what is not understood starts no run. */
import { type Json, isObject, member } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { localPrincipal } from "./http-identity.ts";

/** Bytes of a request that are read as JSON. */
export const runRequestBytesMax = 1024 * 1024;

/** Idle runs are looked for once a minute, and no policy keeps one for longer than 30 days. */
const ttlSecondsMin = 60;
const ttlSecondsMax = 30 * 86_400;

const members = ["principal", "parent", "instruction", "ttl"] as const;

export type RunRequest = {
  /** Owner of the run; without it, the caller. */
  readonly principal?: string;
  readonly parent?: string;
  readonly instruction?: string;
  readonly idleMs?: number;
};

/** Why no run was made: the place in the request, and the remedy. */
export type RunFault = { readonly code: string; readonly place: string; readonly sentence: string };

/** A name that no other principal owns: `os:` are users of this machine, and `/` begins a name below a principal. */
const principalShape = /^(?!os:)[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$/;

const fault = (code: string, place: string, sentence: string): Result<never, RunFault> =>
  err({ code, place, sentence });

export function readRunRequest(body: Uint8Array): Result<RunRequest, RunFault> {
  if (body.length > runRequestBytesMax) {
    return fault("SG-RUNS-BODY", "body", `The body is larger than ${runRequestBytesMax} bytes: shorten it.`);
  }
  const request = parsed(body);
  if (!isObject(request)) {
    return fault("SG-RUNS-BODY", "body", 'The body is not a JSON object: send {"instruction": "..."} or nothing.');
  }
  const unknown = Object.keys(request).find((name) => !members.some((one) => one === name));
  if (unknown !== undefined) {
    const place = unknown.slice(0, 40).replaceAll(/[^\w.-]/g, "?");
    return fault("SG-RUNS-KEY", place, `\`${place}\` is unknown: use principal, parent, instruction or ttl.`);
  }
  const [principal, parent, instruction, ttl] = members.map((name) => member(request, name));
  if (principal !== undefined && !isPrincipal(principal)) {
    const form = "1-128 of `A-Z a-z 0-9 . _ : @ + -`, and `os:` is for users of this machine";
    return fault("SG-RUNS-PRINCIPAL", "principal", `\`principal\` must name the user of the run: ${form}.`);
  }
  if (parent !== undefined && typeof parent !== "string") {
    return fault("SG-RUNS-PARENT", "parent", "`parent` must be the id of an open run: `sluicegate runs` lists them.");
  }
  if (instruction !== undefined && typeof instruction !== "string") {
    return fault(
      "SG-RUNS-INSTRUCTION",
      "instruction",
      "`instruction` must be a text: send it as one, or leave it out.",
    );
  }
  if (ttl !== undefined && !isSeconds(ttl)) {
    const range = `${ttlSecondsMin} to ${ttlSecondsMax}`;
    return fault("SG-RUNS-TTL", "ttl", `\`ttl\` must be a whole number of seconds from ${range}: change it.`);
  }
  return ok({
    ...(principal === undefined ? {} : { principal }),
    ...(parent === undefined ? {} : { parent }),
    ...(instruction === undefined ? {} : { instruction }),
    ...(ttl === undefined ? {} : { idleMs: ttl * 1000 }),
  });
}

function parsed(body: Uint8Array): Json | undefined {
  if (body.length === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Json; // JSON.parse yields JSON
  } catch {
    return undefined;
  }
}

function isPrincipal(value: Json): value is string {
  return typeof value === "string" && (value === localPrincipal || principalShape.test(value));
}

function isSeconds(value: Json): value is number {
  return Number.isInteger(value) && Number(value) >= ttlSecondsMin && Number(value) <= ttlSecondsMax;
}
