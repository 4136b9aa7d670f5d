/**
 * Loaded into a server of the bench before its own code (`node --import`): requests to the hosts of `FRICTION_HOSTS`, which
 * the code names itself, go to the fake on this machine. Nothing else of the server is changed.
 */
import http, { type ClientRequest, type RequestOptions } from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";

type Way = { readonly hosts: readonly string[]; readonly port: number };

const way: Way = JSON.parse(process.env["FRICTION_HOSTS"] ?? '{"hosts":[],"port":0}');
const plainRequest = http.request;
const plainFetch = globalThis.fetch;

/** The address at the fake, where the host is one of its own. */
function turned(address: URL): URL | undefined {
  if (!way.hosts.includes(address.hostname)) return undefined;
  return new URL(`http://127.0.0.1:${way.port}${address.pathname}${address.search}`);
}

globalThis.fetch = (input, init) => {
  const address = new URL(input instanceof Request ? input.url : String(input));
  const other = turned(address);
  if (other === undefined) return plainFetch(input, init);
  return plainFetch(input instanceof Request ? new Request(other, input) : other, init);
};

type Asked = readonly [url: string | URL | RequestOptions, ...rest: unknown[]];

/** `request(url, options?, callback?)` and `request(options, callback?)` of `node:https` and `node:http`. */
function turning(usual: typeof http.request) {
  return (...asked: Asked): ClientRequest => {
    const [first, ...rest] = asked;
    const given = typeof first === "string" || first instanceof URL ? new URL(first) : undefined;
    const options = (
      given === undefined ? first : typeof rest[0] === "function" ? {} : (rest[0] ?? {})
    ) as RequestOptions;
    const host = given?.hostname ?? options.hostname ?? options.host ?? "";
    if (!way.hosts.includes(host)) return Reflect.apply(usual, undefined, asked);
    const path = options.path ?? `${given?.pathname ?? "/"}${given?.search ?? ""}`;
    const { agent: _agent, hostname: _hostname, host: _host, port: _port, protocol: _protocol, ...others } = options;
    const own = Array.isArray(options.headers) ? {} : (options.headers as http.OutgoingHttpHeaders | undefined);
    const to = { ...others, path, host: "127.0.0.1", port: way.port, headers: { host, ...own } };
    const callback = rest.find((one) => typeof one === "function");
    return Reflect.apply(plainRequest, undefined, callback === undefined ? [to] : [to, callback]);
  };
}

function getting(request: ReturnType<typeof turning>) {
  return (...asked: Asked): ClientRequest => {
    const made = request(...asked);
    made.end();
    return made;
  };
}

Object.assign(https, { request: turning(https.request), get: getting(turning(https.request)) });
Object.assign(http, { request: turning(plainRequest), get: getting(turning(plainRequest)) });
syncBuiltinESMExports();
