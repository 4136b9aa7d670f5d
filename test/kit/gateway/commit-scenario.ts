/** Calls of every attendance at a gateway whose server answers everything, and what of them reached that server. */
import { type JsonObject, stringMember } from "../../../src/core/json.ts";
import type { Obligation, Opinion, Reason } from "../../../src/core/opinion.ts";
import type { Verdict } from "../../../src/core/verdict.ts";
import { callDigest } from "../../../src/gateway/decision/call.ts";
import { type FakeMechanism, type FakeState, type PolicyChanges, fakePolicy, fakeState } from "./fake-policy.ts";
import { FakeLog } from "./fake-log.ts";
import { type FakeServer, plain, Stage } from "./playbook.ts";
import { stageTools } from "./stage-tools.ts";

export type Says = { readonly verdict?: Verdict; readonly obligations?: readonly Obligation[] };

/** A policy that says this of calls by the name of their tool or method; everything else is allowed. */
export function saying(of: Readonly<Record<string, Says | ((q: FakeState) => Says)>>, changes: PolicyChanges = {}) {
  const rules: FakeMechanism = {
    consider: ({ moment }, run): Opinion => {
      const tool = moment.kind === "call" ? moment.contract.tool : "";
      const found = Object.hasOwn(of, tool) ? of[tool] : undefined;
      const { verdict = "allow", obligations = [] } =
        (typeof found === "function" ? found(fakeState(run.q)) : found) ?? {};
      const reason: Reason = { mechanism: "fake", code: "SG-TEST", verdict, facts: {} };
      return { kind: "settled", verdict, reasons: verdict === "allow" ? [] : [reason], obligations };
    },
  };
  return fakePolicy([rules], changes);
}

/** A gateway whose server answers every call, and what reached that server. */
export class Scenario {
  readonly stage: Stage;
  readonly reached: string[] = [];
  #ids = 0;

  /** `log`: what another gateway left behind. */
  constructor(policy: ReturnType<typeof fakePolicy>, log = new FakeLog()) {
    this.stage = new Stage({ policy, log });
  }

  /** Lets everything happen that is under way. */
  async run(): Promise<void> {
    for (let turn = 0; turn < 8; turn += 1) {
      await this.stage.settle();
      for (const server of this.stage.servers) for (const got of server.got.splice(0)) this.#answer(server, plain(got));
    }
  }

  #answer(server: FakeServer, { id, method, params }: JsonObject): void {
    if (method === "tools/list") server.say({ id: id ?? 0, result: { tools: stageTools } });
    else if (id !== undefined && method !== undefined) {
      this.reached.push(stringMember(params, "name") ?? "");
      server.say({ id: id ?? 0, result: { content: [{ type: "text", text: "ok" }] } });
    } else this.reached.push(typeof method === "string" ? method : "answer");
  }

  async call(name: string, given: JsonObject = {}): Promise<string> {
    this.#ids += 1;
    const id = this.#ids;
    this.stage.client.say({ id, method: "tools/call", params: { name, arguments: given } });
    await this.run();
    const answer = this.stage.client.got.splice(0).map(plain);
    return JSON.stringify(answer.find((one) => one["id"] === id) ?? {});
  }

  async notify(method: string, params: JsonObject = {}): Promise<void> {
    this.stage.client.say({ method, params });
    await this.run();
  }

  get live() {
    const [live] = this.stage.gateway.runs.all();
    if (live === undefined) throw new Error("no run is open");
    return live;
  }

  /** From now on this call may have been made already, and its outcome is not known. */
  doubt(
    tool: string,
    given: JsonObject = {},
    { server = "files", method = "tools/call" }: { readonly server?: string; readonly method?: string } = {},
    run = this.live.key,
  ): void {
    const digest = callDigest({ server, tool }, method, given, this.stage.gateway.state.services.secrets.hash);
    this.stage.gateway.state.inDoubt.note(run, digest, this.stage.clock.wallMs());
  }

  /** A call whose answer never comes, since its stream was cut. */
  async lose(name: string, given: JsonObject = {}): Promise<void> {
    this.#ids += 1;
    this.stage.client.say({ id: this.#ids, method: "tools/call", params: { name, arguments: given } });
    await this.stage.settle();
    const { server, client } = this.stage;
    for (const got of server.got.splice(0)) {
      if (got.kind === "request") server.handler.lost?.(got.id, "its stream was cut");
      this.reached.push(stringMember(plain(got)["params"], "name") ?? "");
    }
    await this.stage.settle();
    client.got.splice(0);
  }

  /** The operator consents to what the gateway asked in this answer; gives the id of the approval. */
  approve(asked: string): string {
    const id = /approve (\S+?)`/.exec(asked)?.[1] ?? "";
    this.stage.log.approve(id);
    return id;
  }

  refusals(): readonly (readonly string[])[] {
    return this.stage.log.events().flatMap((event) => (event.kind === "refused" ? [event.codes] : []));
  }
}

export const hook = { client: "claude", principal: "os:1000", process: { pid: 9, startedAt: "1" } } as const;
export const must = { kind: "perform", rule: "R1", server: "files", tool: "backup", arguments: {} } as const;
export const hold = { kind: "hold", rule: "R2", since: 0 } as const;
/** Held until a file was read. */
export const held = ({ allowed }: FakeState): Says => (allowed.includes("read_file") ? {} : { obligations: [hold] });
