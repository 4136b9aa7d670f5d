/**
 * Stands in for the daemon while there is none: every request of the client is refused at once with a way on, so that
 * no client hangs and no message is kept to be sent later without a decision.
 */
import { outageLineBytesMax } from "../../adapters/daemon/daemon-limits.ts";
import type { LineTail } from "./line-tail.ts";
import { refusalLine, requestsIn, unanswered } from "./recovery.ts";

export const sentences = {
  unknown: "Sluicegate's daemon was lost while this request was under way; whether it was carried out is unknown.",
  unknownWay: "Check before you repeat it.",
  away: "Sluicegate's daemon was lost and is being restarted; nothing was sent to the server.",
  awayWay: "Repeat the request in a few seconds.",
  given: "Sluicegate's daemon is not running or does not answer; nothing was sent to the server.",
  givenWay: "Ask the user to run `sluicegate doctor` and to reconnect this server.",
} as const;

export class Outage {
  readonly #write: (line: string) => void;
  #held: Buffer[];
  #heldBytes = 0;
  #final = false;

  constructor(write: (line: string) => void) {
    this.#write = write;
    this.#held = [];
  }

  /** Answers what was under way when the daemon was lost, and ends a line that the daemon left unfinished on stdout. */
  begin(requests: LineTail, answers: LineTail): void {
    if (answers.midLine) this.#write("\n");
    const complete = requests.lines;
    const open = unanswered(complete, answers.lines);
    for (const request of open) this.#write(refusalLine(request, sentences.unknown, sentences.unknownWay));
    // A request cut in half by the loss never reached the server: its rest is read here and it is refused as new.
    this.#held = requests.midLine ? [requests.partial] : [];
  }

  /** From now on no restart is under way, and refusals say so. */
  giveUp(): void {
    this.#final = true;
  }

  /** True iff the client is between two lines: the only moment at which a new session may take over. */
  get atLineStart(): boolean {
    return this.#held.length === 0;
  }

  /** Takes bytes of the client and refuses each request in them. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#hold(chunk.subarray(start, end));
      this.#refuse(Buffer.concat(this.#held));
      this.#held = [];
      this.#heldBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  #hold(part: Buffer): void {
    this.#held.push(part);
    this.#heldBytes += part.length;
    if (this.#heldBytes <= outageLineBytesMax) return;
    // Only its id is of interest, and that stands at the beginning or the end.
    const whole = Buffer.concat(this.#held);
    this.#held = [Buffer.concat([whole.subarray(0, 2048), whole.subarray(-2048)])];
    this.#heldBytes = 4096;
  }

  #refuse(line: Buffer): void {
    const [sentence, way] = this.#final ? [sentences.given, sentences.givenWay] : [sentences.away, sentences.awayWay];
    for (const request of requestsIn(line)) this.#write(refusalLine(request, sentence, way));
  }
}
