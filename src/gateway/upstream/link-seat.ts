/** What one client sees of a connection that others may share. */
import type { JsonObject } from "../../core/json.ts";
import type { Message, RequestId } from "../../wire/message.ts";
import type { Answered, OwnWait } from "../ports/conversation.ts";
import type { Projection } from "../ports/projection.ts";
import type { UnsolicitedBudget } from "./unsolicited-budget.ts";
import type { Link, LinkUser } from "./upstream-link.ts";

/** The end of a link that one client uses: it sends, asks and gives up for this client, without the other users. */
export class LinkSeat {
  readonly #link: Link;
  #user: LinkUser | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  /** From now on messages of the server come to this user, and what is sent here is the user's. */
  attach(user: LinkUser): void {
    this.#user = user;
    this.#link.attach(user);
  }

  detach(): void {
    if (this.#user !== undefined) this.#link.detach(this.#user);
  }

  send(message: Message): void {
    if (this.#user !== undefined) this.#link.send(this.#user, message);
  }

  /** Gives up a request of this user. */
  abandon(id: RequestId): void {
    if (this.#user !== undefined) this.#link.abandon(this.#user, id);
  }

  /** A request of the gateway itself, for a run or for none; undefined when the server does not answer in time. */
  ask(method: string, params: JsonObject | undefined, wait: OwnWait): Promise<Answered | undefined> {
    return this.#link.ask(method, params, wait);
  }

  /** The projection that the server runs in; undefined where the policy orders none for it. */
  get projection(): Projection | undefined {
    return this.#link.projection;
  }

  /** The account of the messages that the server sends beside its answers, to all users. */
  get budget(): UnsolicitedBudget {
    return this.#link.budget;
  }

  /** Ids of the calls that the server works on, of all users, each with whether it still does. */
  get working(): Map<string, () => boolean> {
    return this.#link.working;
  }
}
