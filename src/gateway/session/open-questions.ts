/**
 * Questions that one client of the merged endpoint has before it, by the id that it knows them by. Every server behind
 * the endpoint has a share of its own, and so has the gateway: a server that asks without end takes no other's place,
 * least of all that of the question whether a call may be made.
 */
import type { RequestId } from "../../wire/message.ts";
import { serverQuestionsMin, serverRequestsOpenMax } from "../ports/limits.ts";
import { isOwnId } from "../ports/ids.ts";

export type OpenQuestion = { readonly server: string; readonly id: RequestId };

/** The share of the gateway's own questions; no server has this name. */
const ownShare = "";

export class OpenQuestions {
  readonly #shareMax: number;
  readonly #byId = new Map<string, OpenQuestion>();
  readonly #counts = new Map<string, number>();
  #count = 0;

  /** `servers`: how many share the client. */
  constructor(servers: number) {
    this.#shareMax = Math.max(serverQuestionsMin, Math.floor(serverRequestsOpenMax / Math.max(1, servers)));
  }

  /** The id for the client; undefined where as many are open as the server may have. */
  open(question: OpenQuestion): string | undefined {
    const share = shareOf(question);
    const open = this.#counts.get(share) ?? 0;
    if (open >= (share === ownShare ? serverRequestsOpenMax : this.#shareMax)) return undefined;
    this.#counts.set(share, open + 1);
    this.#count += 1;
    const id = `${question.server}:${this.#count}`;
    this.#byId.set(id, question);
    return id;
  }

  /** The question of an id, which is over with that. */
  take(id: RequestId | null): OpenQuestion | undefined {
    const question = typeof id === "string" ? this.#byId.get(id) : undefined;
    if (question === undefined || typeof id !== "string") return undefined;
    this.#byId.delete(id);
    const share = shareOf(question);
    this.#counts.set(share, (this.#counts.get(share) ?? 1) - 1);
    return question;
  }

  /** The id for the client of what a server asked under an id of its own. */
  idOf(server: string, given: unknown): string | undefined {
    for (const [id, question] of this.#byId) if (question.server === server && question.id === given) return id;
    return undefined;
  }
}

function shareOf({ server, id }: OpenQuestion): string {
  return isOwnId(id) ? ownShare : server;
}
