/** Messages between the thread of the parsers and the one that waits for them. */
import type { MessagePort } from "node:worker_threads";
import type { SqlDialect, SqlTree } from "../../core/reading.ts";

export type SqlOrder = { readonly dialect: SqlDialect; readonly text: string };

/** What the thread is started with: a port for orders and replies, and the number of replies that were sent. */
export type SqlDesk = { readonly port: MessagePort; readonly replies: Int32Array };

export type SqlReply = SqlTree;
