/** Faults of a destination in a scope: its spelling, or that it opens a network instead of a host. */
import { parseDestination } from "../../core/isolation/scope-patterns.ts";

type Fault = { readonly code: "spelling" | "breadth"; readonly why: string; readonly remedy: string };

/**
 * Second levels under which whole countries register (`co.uk`), so that two labels do not name an owner. A full list of
 * such suffixes changes weekly; these are the shapes that authors write by mistake.
 */
const sharedSecondLevels = new Set([
  "ac",
  "co",
  "com",
  "edu",
  "go",
  "gob",
  "gov",
  "id",
  "mil",
  "ne",
  "net",
  "or",
  "org",
]);

/** Domains below which anyone can register a name for free. */
const hostingDomains = new Set(
  (
    "github.io gitlab.io githubusercontent.com pages.dev workers.dev r2.dev vercel.app netlify.app " +
    "herokuapp.com onrender.com fly.dev up.railway.app surge.sh glitch.me web.app firebaseapp.com " +
    "appspot.com run.app cloudfunctions.net blogspot.com googleusercontent.com cloudfront.net " +
    "azurewebsites.net azureedge.net cloudapp.net trycloudflare.com ngrok.io ngrok.app ngrok-free.app " +
    "loca.lt serveo.net nip.io sslip.io repl.co replit.app deno.dev supabase.co hf.space streamlit.app " +
    "digitaloceanspaces.com ondigitalocean.app"
  ).split(" "),
);

/** Why the text is not a destination, or opens too much; undefined if it is one that names an owner. */
export function destinationFault(text: string): Fault | undefined {
  const wide = (what: string): Fault => ({
    code: "breadth",
    why: `would open ${what}`,
    remedy: "name the hosts, such as `api.example.com:443`",
  });
  // Told before they are read: none of these is a pattern at all, and each is written in good faith.
  if (/^(?:\*|\*:.*|:[0-9]*|)$/.test(text)) return wide("every host");
  if (/^(?:0\.0\.0\.0|\[?::\]?)(?:\/|:[0-9]|$)/.test(text)) return wide("every address");
  const wild = /^\*\.([^:/]*)/.exec(text)?.[1];
  if (wild !== undefined && isShared(wild.toLowerCase().replace(/\.$/, "")))
    return wide(`hosts of any registrant below \`${wild}\``);
  if (parseDestination(text) !== undefined) return undefined;
  if (/\/[0-9]{1,3}(?:\]?:[0-9]+|\]?)$/.test(text)) {
    return wide("a whole network (a block has at least /24, or /64 in IPv6)");
  }
  return spelling(text);
}

function spelling(text: string): Fault {
  if (text.includes("//")) {
    return {
      code: "spelling",
      why: "is a URL, and a scope names hosts",
      remedy: "write `host:port`, without scheme and path",
    };
  }
  const port = /:([^:\]]*)$/.exec(text)?.[1];
  if (port !== undefined && !/^[1-9][0-9]{0,4}$/.test(port) && !text.includes("::")) {
    return { code: "spelling", why: "has no port from 1 to 65535", remedy: "write `host:port`" };
  }
  if (port !== undefined && Number(port) > 65_535) {
    return { code: "spelling", why: "has no port from 1 to 65535", remedy: "write `host:port`" };
  }
  return {
    code: "spelling",
    why: "is neither `host:port`, `*.host:port` nor an address",
    remedy: "write `host:port`, without a scheme or a path",
  };
}

/** Trees of a provider in which customers have names at every depth (`bucket.s3.eu-west-1.amazonaws.com`). */
const sharedTrees = ["amazonaws.com", "windows.net", "storage.googleapis.com", "cloudapp.azure.com"];

/** Names below it can belong to anyone. */
function isShared(name: string): boolean {
  const labels = name.split(".");
  if (labels.length < 2 || hostingDomains.has(name)) return true;
  if (sharedTrees.some((tree) => name === tree || name.endsWith(`.${tree}`))) return true;
  const [second = "", top = ""] = labels;
  return labels.length === 2 && top.length === 2 && sharedSecondLevels.has(second);
}
