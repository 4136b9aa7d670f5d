/**
 * Verdicts of whole lists, remembered by everything they depend on: policy, list, and the part of the run's state that
 * lists depend on, of which the policy gives a digest. Shared by all connections, since in the modern era over HTTP a
 * connection lives for one request.
 */
import type { ToolContract } from "../core/contract.ts";
import type { Moment } from "../core/moment.ts";
import type { Verdict } from "../core/verdict.ts";
import { AskedOnce } from "./asked-once.ts";
import type { ListState } from "./catalogue.ts";
import { judge } from "./judge.ts";
import { exposeTriesMax, exposuresMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import type { Oracle, Services } from "./services-port.ts";

export type ExposeQuery<Q> = {
  readonly live: LiveRun<Q>;
  readonly server: string;
  readonly state: ListState;
  readonly contracts: readonly ToolContract[];
};

export class Exposures<Q> {
  readonly #services: Services<Q>;
  readonly #known = new Map<string, readonly Verdict[]>();

  constructor(services: Services<Q>) {
    this.#services = services;
  }

  /** A verdict for each entry of the list. */
  async of(query: ExposeQuery<Q>): Promise<readonly Verdict[]> {
    let verdicts: readonly Verdict[] = [];
    for (let tries = 0; tries < exposeTriesMax; tries += 1) {
      const key = this.#keyOf(query);
      const known = this.#known.get(key);
      if (known !== undefined) return known;
      verdicts = await this.#judged(query);
      // Somebody may have been asked, and the run may have moved on meanwhile: that belongs under no digest.
      if (this.#keyOf(query) !== key) continue;
      const oldest = this.#known.size >= exposuresMax ? this.#known.keys().next() : undefined;
      if (oldest?.done === false) this.#known.delete(oldest.value);
      this.#known.set(key, verdicts);
      return verdicts;
    }
    return verdicts;
  }

  #keyOf({ live, server, state }: ExposeQuery<Q>): string {
    const digest = live.policy.stateDigest(live.state, this.#services.clock.monotonicMs());
    return `${live.policy.digest} ${server} ${state.method} ${state.digest} ${digest}`;
  }

  async #judged({ live, contracts }: ExposeQuery<Q>): Promise<readonly Verdict[]> {
    const byContract = new Map<ToolContract, Verdict>();
    const verdicts: Verdict[] = [];
    // Entries are judged one after another, and most of them ask the same.
    const oracle = new AskedOnce(this.#services.oracle);
    // One instant for all: what is a matter of time is then worked out once for tools that are alike.
    const at = this.#services.clock.monotonicMs();
    for (const contract of contracts) {
      const judged = byContract.get(contract) ?? this.#verdict(live, { kind: "expose", at, contract }, oracle);
      const verdict = judged instanceof Promise ? await judged : judged;
      byContract.set(contract, verdict);
      verdicts.push(verdict);
    }
    return verdicts;
  }

  #verdict(live: LiveRun<Q>, moment: Moment, oracle: Oracle): Verdict | Promise<Verdict> {
    return judge(live, { oracle }, moment, ({ verdict }) => verdict);
  }
}
