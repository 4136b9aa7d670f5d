/** One client that looks at a server's lists, calls its tools, and has its questions ruled. */
import { isArray, member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import { ruleApproval } from "../../../src/gateway/consent/approvals.ts";
import { FakeLog } from "./fake-log.ts";
import { type FakeMechanism, fakePolicy, type PolicyChanges } from "./fake-policy.ts";
import { type FakeClient, plain, Stage } from "./playbook.ts";

export type Listed = "tools" | "prompts" | "resources" | "resourceTemplates";
const methods: Readonly<Record<Listed, string>> = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
};

export class ListSession {
  readonly stage: Stage;
  #id = 0;

  constructor(
    changes: PolicyChanges = { labelled: true },
    log = new FakeLog(),
    servers?: readonly string[],
    mechanisms: readonly FakeMechanism[] = [],
  ) {
    this.stage = new Stage({
      policy: fakePolicy(mechanisms, changes),
      log,
      ...(servers === undefined ? {} : { servers }),
    });
  }

  /** Lets the client list while the server has these entries; what the client is shown. */
  async lists(entries: readonly Json[], kind: Listed = "tools", client: FakeClient = this.stage.client): Promise<Json> {
    const answer = await this.ask({ method: methods[kind] }, { [kind]: [...entries] }, client);
    return member(member(answer, "result"), kind) ?? answer;
  }

  async ask(message: JsonObject, result: JsonObject, client: FakeClient = this.stage.client): Promise<JsonObject> {
    this.#id += 1;
    client.got.length = 0;
    client.say({ id: this.#id, ...message });
    for (let turn = 0; turn < 4; turn += 1) {
      await this.stage.settle();
      for (const server of this.stage.servers) {
        for (const { id, method } of server.got.splice(0).map(plain)) {
          if (id !== undefined) server.say({ id, result: method === message["method"] ? result : { content: [] } });
        }
      }
    }
    return client.got.map(plain).find(({ id }) => id === this.#id) ?? {};
  }

  /** What a call is answered, and whether it reached the server. */
  async calls(name: string, client = this.stage.client): Promise<{ readonly sent: boolean; readonly text: string }> {
    this.#id += 1;
    client.got.length = 0;
    client.say({ id: this.#id, method: "tools/call", params: { name, arguments: {} } });
    await this.stage.settle();
    const got = this.stage.servers.flatMap((server) => server.got.splice(0)).map(plain);
    const sent = got.some(({ method }) => method === "tools/call");
    if (sent) this.stage.server.say({ id: this.#id, result: { content: [] } });
    await this.stage.settle();
    return { sent, text: JSON.stringify(client.got.map(plain)) };
  }

  pending() {
    return [...this.stage.log.approvals.values()].filter(({ status }) => status === "pending");
  }

  card(): JsonObject {
    const row = this.pending().at(-1);
    return row?.card === undefined ? {} : (this.stage.log.port.open(row.run, row.card) ?? {});
  }

  async rule(choice: "once" | "refuse"): Promise<void> {
    const id = this.pending().at(-1)?.id ?? "";
    const ruled = await ruleApproval(this.stage.log.port, this.stage.clock, {
      id,
      choice,
      by: "ann",
      role: "operator",
    });
    if (ruled.ok) this.stage.gateway.ruled(ruled.value);
    await this.stage.settle();
  }
}

export const entryNames = (entries: Json): readonly string[] =>
  (isArray(entries) ? entries : []).flatMap((entry) => stringMember(entry, "name") ?? []);
