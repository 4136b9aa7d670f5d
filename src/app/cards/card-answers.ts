/** What was answered of each server, as it stands on record. */
import { given } from "../../core/given.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { hostsMax, whyNoHost } from "./card-hosts.ts";

/** `accepted`: some reading of it; `isolated`: only under isolation; `refused`: not at all; `later`: no answer yet. */
export const cardAnswers = ["accepted", "isolated", "refused", "later"] as const;
export type CardAnswer = (typeof cardAnswers)[number];

/** Hosts that were opened to a server, the last day of that, and whether it sees the workspace as before. */
export type OpenedHosts = { readonly allow: readonly string[]; readonly until: string; readonly workspace: boolean };

export type ServerAnswer = {
  readonly answer: CardAnswer;
  /** ISO 8601. */
  readonly at: string;
  /** Who answered. */
  readonly by: string;
  /** Digest of each tool that the card showed. */
  readonly tools: { readonly [tool: string]: string };
  /** Evidence against the server since: its readings do not count until the card is answered again. */
  readonly flagged?: string;
  readonly hosts?: OpenedHosts;
};

export type ServerAnswers = ReadonlyMap<string, ServerAnswer>;

/** Servers on record. */
export const serversMax = 1_000;

/** Answers without which more would be permitted. */
export function isRestriction(answer: CardAnswer): boolean {
  return answer === "refused" || answer === "isolated";
}

export function answersText(servers: ServerAnswers): string {
  return `${JSON.stringify({ version: 1, servers: Object.fromEntries(servers) }, undefined, 1)}\n`;
}

/** The error says what is wrong, without an end. */
export function readAnswers(text: string): Result<ServerAnswers, string> {
  let value: Json;
  try {
    value = JSON.parse(text) as Json; // looked at member by member below
  } catch {
    return err("it is not JSON");
  }
  const servers = member(value, "servers");
  if (member(value, "version") !== 1 || !isObject(servers)) return err("it has no `version: 1` with `servers`");
  const entries = Object.entries(servers);
  if (entries.length > serversMax) return err(`it speaks of more than ${serversMax} servers`);
  const found = new Map<string, ServerAnswer>();
  for (const [server, one] of entries) {
    const read = answerOf(one);
    if (read === undefined) return err(`the answer of \`${server.slice(0, 64)}\` cannot be read`);
    found.set(server, read);
  }
  return ok(found);
}

function answerOf(value: Json): ServerAnswer | undefined {
  const [at, by] = ["at", "by"].map((name) => stringMember(value, name));
  const answer = cardAnswers.find((one) => one === member(value, "answer"));
  const tools = textsIn(member(value, "tools"));
  const [flagged, hosts] = ["flagged", "hosts"].map((name) => member(value, name));
  if (answer === undefined || at === undefined || by === undefined || tools === undefined) return undefined;
  if (flagged !== undefined && typeof flagged !== "string") return undefined;
  const opened = hosts === undefined ? undefined : hostsIn(hosts);
  if (hosts !== undefined && opened === undefined) return undefined;
  const more = given<Pick<ServerAnswer, "flagged" | "hosts">>({ flagged, hosts: opened });
  return { answer, at, by, tools, ...more };
}

function hostsIn(value: Json): ServerAnswer["hosts"] {
  const [allow, until] = [member(value, "allow"), stringMember(value, "until")];
  const workspace = member(value, "workspace");
  if (!isArray(allow) || typeof workspace !== "boolean" || until === undefined || !/^\d{4}-\d\d-\d\d$/.test(until))
    return undefined;
  const texts = allow.filter((one) => typeof one === "string");
  const usable =
    texts.length === allow.length && texts.length <= hostsMax && texts.every((one) => whyNoHost(one) === undefined);
  return usable ? { allow: texts, until, workspace } : undefined;
}

function textsIn(value: Json | undefined): { readonly [name: string]: string } | undefined {
  if (!isObject(value)) return undefined;
  const texts: [string, string][] = [];
  for (const [name, text] of Object.entries(value satisfies JsonObject)) {
    if (typeof text !== "string") return undefined;
    texts.push([name, text]);
  }
  return Object.fromEntries(texts);
}
