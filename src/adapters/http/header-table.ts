import { member, stringMember, isArray } from "../../core/json.ts";
import { type HeaderParameter, headerParameters } from "../../wire/headers.ts";
import type { Message, RequestId } from "../../wire/message.ts";

/**
 * Table of the tools of a server that want arguments repeated in headers (`x-mcp-header`), learnt from the lists that
 * pass through this connection. A tool whose annotation breaks the rules gets no parameter headers; admission does not
 * offer it.
 */
export class HeaderTable {
  readonly #toolsMax: number;
  readonly #parameters = new Map<string, readonly HeaderParameter[]>();
  readonly #listing = new Set<RequestId>();

  constructor(toolsMax: number) {
    this.#toolsMax = toolsMax;
  }

  /** Notes a request, so that its answer is recognised as a list. */
  sent(message: Message): void {
    if (message.kind === "request" && message.method === "tools/list") this.#listing.add(message.id);
  }

  received(message: Message): void {
    if (message.kind !== "response" && message.kind !== "error") return;
    if (message.id === null || !this.#listing.delete(message.id) || message.kind === "error") return;
    const tools = member(message.result, "tools");
    for (const tool of isArray(tools) ? tools : []) {
      const name = stringMember(tool, "name");
      if (name === undefined) continue;
      const found = headerParameters(member(tool, "inputSchema")) ?? [];
      // The newest definition counts; tools without such parameters need no entry.
      if (found.length === 0) this.#parameters.delete(name);
      else if (this.#parameters.size < this.#toolsMax) this.#parameters.set(name, found);
    }
  }

  of(message: Message): readonly HeaderParameter[] {
    if (message.kind !== "request" || message.method !== "tools/call") return [];
    return this.#parameters.get(stringMember(message.params, "name") ?? "") ?? [];
  }
}
