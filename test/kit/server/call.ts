import { createHmac } from "node:crypto";
import { isObject, member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import { codes, RpcFailure } from "./json-rpc.ts";

export type Era = "legacy" | "modern";

/** A question to the user, the client's model or the client itself. */
export type Inquiry = { readonly method: string; readonly params: JsonObject };

/** What one tool, prompt or resource call may use. The same tool code serves both eras. */
export type Call = {
  readonly era: Era;
  readonly arguments: JsonObject;
  readonly capabilities: JsonObject;
  readonly signal: AbortSignal;
  readonly log: (level: string, data: Json) => void;
  readonly progress: (progress: number, total: number, message?: string) => void;
  /** Resolves once every inquiry was answered; in the modern era it ends this round and the client comes back. */
  readonly ask: (inquiries: Readonly<Record<string, Inquiry>>) => Promise<JsonObject>;
  readonly interrupt: () => void;
};

/** Thrown by `ask` in the modern era: the call ends here with an `input_required` result (SEP-2322). */
export class InputRequired extends Error {
  readonly inquiries: Readonly<Record<string, Inquiry>>;

  constructor(inquiries: Readonly<Record<string, Inquiry>>) {
    super("input required");
    this.inquiries = inquiries;
  }
}

/** Client capability that each kind of inquiry needs. */
export const capabilityOf: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

// A constant key keeps the answers of two fixture processes byte-equal; nothing secret is sealed with it.
const stateKey = "fixture";

/** Opaque state of a call over several rounds: the answers so far, bound to the call's name by an HMAC. */
export function sealState(name: string, answers: JsonObject): string {
  const body = Buffer.from(JSON.stringify({ name, answers })).toString("base64url");
  return `${body}.${createHmac("sha256", stateKey).update(body).digest("base64url")}`;
}

/** Opens what `sealState` made; anything else is refused (SEP-2322, integrity of `requestState`). */
export function openState(name: string, state: Json | undefined): JsonObject {
  if (state === undefined) return {};
  const [body, tag, ...rest] = typeof state === "string" ? state.split(".") : [];
  if (
    body === undefined ||
    rest.length > 0 ||
    createHmac("sha256", stateKey).update(body).digest("base64url") !== tag
  ) {
    throw new RpcFailure(codes.invalidParams, "requestState failed its integrity check", { status: 400 });
  }
  const opened: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
  // The HMAC proves that `sealState` wrote it.
  const sealed = opened as { readonly name: string; readonly answers: JsonObject };
  if (sealed.name !== name) throw new RpcFailure(codes.invalidParams, "requestState belongs to another call");
  return sealed.answers;
}

/** Answers that this round brought, checked for shape only. */
export function roundAnswers(params: JsonObject): JsonObject {
  const given = member(params, "inputResponses");
  if (given === undefined) return {};
  if (!isObject(given) || Object.values(given).some((answer) => !isObject(answer))) {
    throw new RpcFailure(codes.invalidParams, "inputResponses must map each key to an object", { status: 400 });
  }
  return given;
}

/** Text of a sampling answer, whatever its content kind. */
export function samplingText(answer: Json | undefined): string {
  return stringMember(member(answer, "content"), "text") ?? "";
}
