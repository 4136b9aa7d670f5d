/** The thread that parses SQL: WebAssembly is loaded asynchronously, while a decision waits for its answer. */
import { workerData } from "node:worker_threads";
import type { ParseSql } from "../../core/reading.ts";
import { loadSqlParsers } from "./parsers.ts";
import type { SqlDesk, SqlOrder, SqlReply } from "./sql-order.ts";

const { port, replies } = workerData as SqlDesk;

const missing: ParseSql = () => ({ ok: false, because: "the parser is not installed" });
const loading = loadSqlParsers().catch(() => missing);

port.on("message", (order: SqlOrder) => {
  void loading.then((parse) => {
    const reply: SqlReply = parse(order.dialect, order.text);
    port.postMessage(reply);
    Atomics.add(replies, 0, 1);
    Atomics.notify(replies, 0);
  });
});
