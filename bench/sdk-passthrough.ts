// `sdk-passthrough.ts v1|v2 stdio CMD...` or `sdk-passthrough.ts v1|v2 http URL`: what a proxy costs that is built as
// an SDK client and an SDK server back to back. Each SDK is loaded only when asked for.
const [generation, transport, ...rest] = process.argv.slice(2);
const { passStdio, passHttp } =
  generation === "v1" ? await import("./sdk-v1-passthrough.ts") : await import("./sdk-v2-passthrough.ts");

if (transport === "stdio") await passStdio(rest);
else await passHttp(rest[0] ?? "");

// The SDKs keep the process alive after their client has gone.
if (transport === "stdio") process.stdin.on("end", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));
