/**
 * Reading of requests: GET and HEAD ask, everything else may act. A request is a method, a URL (which alone is asked for
 * by GET), a line `GET URL`, or an object of these with headers and parameters. An address that the agent chose tells its
 * host what stands in it, so a request that only asks is a read of something outside, and still a sink.
 */
import { type Json, isObject, isRawNumber } from "../../../core/json.ts";
import type { Reading } from "../../../core/reading.ts";
import { shown } from "./listing.ts";

const urlUnitsMax = 2_048;
/** Members of one request, and of its headers or parameters. */
const membersMax = 64;

const reads: Reading = { kind: "reads" };
const unread = (because: string): Reading => ({ kind: "unread", because });

export function readRequest(value: Json): Reading {
  if (typeof value === "string") return readLine(value);
  return isObject(value) ? readObject(value) : unread("it is no request");
}

function readLine(text: string): Reading {
  if (/^https?:/i.test(text)) return readUrl(text);
  const [method = "", url, ...more] = text.split(" ");
  if (more.length > 0) return unread("it is more than a method and a URL");
  const asked = readMethod(method);
  return asked.kind === "reads" && url !== undefined ? readUrl(url) : asked;
}

function readMethod(method: string): Reading {
  if (/^(?:get|head)$/i.test(method)) return reads;
  if (/^(?:post|put|patch|delete)$/i.test(method))
    return { kind: "acts", because: `its method is ${method.toUpperCase()}` };
  return unread(`its method is ${shown(method)}`);
}

function readUrl(text: string): Reading {
  if (
    text.length > urlUnitsMax ||
    !/^https?:\/\/[\x21-\x7e]+$/i.test(text) ||
    /[\\"<>^`{|}]/.test(text) ||
    !URL.canParse(text)
  )
    return unread("its address is not a plain URL");
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") return unread("its address holds a password");
  return namesMethod(text) ? unread("its address names another method") : reads;
}

/**
 * Some frameworks take the method from a parameter, and read names in their own ways: with `;` between parameters, with
 * other characters for the underscore, as a list. What cannot be decoded whole is decoded byte by byte, as they do.
 */
function namesMethod(text: string): boolean {
  const query = /\?(.*)$/s.exec(text)?.[1] ?? "";
  return query.split(/[?&;#]/).some((pair) => {
    const [name = ""] = pair.split("=", 1);
    const plain = name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return /^x?(?:http)?method(?:override)?$/i.test(plain.replace(/[^a-z]/gi, ""));
  });
}

const methods = /^(?:method|http_?method|verb)$/i;
const addresses = /^(?:url|uri|endpoint|address)$/i;
const headers = /^headers$/i;
const parameters = /^(?:params|parameters|query|query_?params|query_?parameters|search_?params)$/i;
/** Members that change how long or how often it asks, not what. */
const manner =
  /^(?:timeout(?:_?ms|_?seconds)?|follow_?redirects|max_?redirects|retries|raw|max_?length|start_?index)$/i;
const bodies = /^(?:body|data|json|form|files?|payload|content)$/i;

function readObject(request: { readonly [name: string]: Json }): Reading {
  const members = Object.entries(request);
  if (members.length > membersMax) return unread("it has too many members");
  let said = 0;
  for (const [name, value] of members) {
    const found = readMember(name, value);
    if (found.kind !== "reads") return found;
    if (methods.test(name)) said += 1;
    else if (addresses.test(name)) said += 10;
  }
  // Without a method it is for the server to say which it is.
  return said === 11 ? reads : unread("it does not name one method and one address");
}

function readMember(name: string, value: Json): Reading {
  if (methods.test(name)) return typeof value === "string" ? readMethod(value) : unread("its method is no text");
  if (addresses.test(name)) return typeof value === "string" ? readUrl(value) : unread("its address is no text");
  if (headers.test(name)) return readHeaders(value);
  if (parameters.test(name)) return readPairs(value, /method/i, "its parameters name another method");
  if (bodies.test(name)) return value === null || value === "" ? reads : unread("it has a body");
  return manner.test(name) && isScalar(value) ? reads : unread(`it has ${shown(name)}`);
}

function readPairs(value: Json, never: RegExp, because: string): Reading {
  if (value === null) return reads;
  if (!isObject(value) || Object.keys(value).length > membersMax) return unread("it has pairs that cannot be read");
  if (Object.keys(value).some((name) => never.test(name))) return unread(because);
  return Object.values(value).every(isScalar) ? reads : unread("it has pairs that cannot be read");
}

/**
 * Headers that make another request of it: another host than that of its address, another path, another length of what
 * follows, or another protocol.
 */
const steering =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-length|expect|http2-settings|forwarded|via|destination|x-forwarded-.*|x-original-.*|x-rewrite-.*|x-host|proxy-.*)$/i;
const headerName = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
/** A line break would begin another header, or another request. */
const control = /[^\t\x20-\x7e\u0080-\uffff]/;

function readHeaders(value: Json): Reading {
  const found = readPairs(value, /method/i, "its headers name another method");
  if (found.kind !== "reads" || !isObject(value)) return found;
  for (const [name, text] of Object.entries(value)) {
    if (!headerName.test(name) || (typeof text === "string" && control.test(text)))
      return unread("its headers are not plain text");
    if (steering.test(name)) return unread(`its header ${shown(name)} makes another request of it`);
  }
  return reads;
}

function isScalar(value: Json): boolean {
  return value === null || typeof value !== "object" || isRawNumber(value);
}
