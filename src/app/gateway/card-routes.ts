/**
 * Admission cards over HTTP, for a console: `GET /cards`, `GET /cards/NAME`, `POST /cards/NAME`. They are the requests of the
 * control protocol, under the control token; an answer that needs a proof is given where the proof can be.
 */
import type { Route, RouteReply, RouteRequest } from "../../adapters/http/http-contract.ts";
import { type Json, isObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { daysUsual } from "../cards/card-acts.ts";
import type { Composition } from "./composition.ts";
import { answerCard, cardReport, cardsReport } from "./control-cards.ts";
import { readRequest } from "./control-contract.ts";

/** Bytes of an answer: a list of reviewed tools. */
const bodyBytesMax = 262_144;

const wanted = "Send an object: {digest, choice, reviewed?, days?}, with the digest of the card that was shown.";

type Guarded = (
  handle: (asked: RouteRequest) => Promise<RouteReply>,
) => (asked: RouteRequest) => Promise<RouteReply> | RouteReply;

export function cardRoutes(composition: Composition, guarded: Guarded): readonly Route[] {
  const named = (asked: RouteRequest): string => decoded(asked.facts.path.slice("/cards/".length)) ?? "";
  return [
    { method: "GET", path: "/cards", open: false, handle: guarded(async () => json(200, cardsReport(composition))) },
    {
      method: "GET",
      path: "/cards/",
      open: false,
      handle: guarded(async (asked) => replied(cardReport(composition, { server: named(asked) }))),
    },
    {
      method: "POST",
      path: "/cards/",
      open: false,
      handle: guarded(async (asked) => {
        const body = asked.body.length > bodyBytesMax ? undefined : bodyOf(asked.body);
        if (body === undefined) return failed(wanted);
        const read = readRequest({ reviewed: [], days: daysUsual, ...body, kind: "card-answer", server: named(asked) });
        if (!read.ok || read.value.kind !== "card-answer") return failed(wanted);
        return replied(await answerCard(composition, read.value));
      }),
    },
  ];
}

function bodyOf(bytes: Uint8Array): { readonly [name: string]: Json } | undefined {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json; // read member by member
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function replied(result: Result<Json, string>): RouteReply {
  return result.ok ? json(200, result.value) : failed(result.error);
}

function failed(sentence: string): RouteReply {
  return json(400, { error: sentence, code: "SG-CARDS", place: "body" });
}

function json(status: number, body: Json): RouteReply {
  return { status, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}
