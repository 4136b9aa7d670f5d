/** The page on which an authenticator is touched: one act in words, one button, no other content and no other origin. */

/** What the page shows and asks; texts are data and never markup. */
export type PageContent = {
  readonly title: string;
  readonly lines: readonly string[];
  readonly button: string;
  /** Options of `navigator.credentials`, with bytes as base64url under `challenge`, `user.id` and ids. */
  readonly options: { readonly create: object } | { readonly get: object };
};

/** Runs in the browser; `given` is what the server wrote into the page. */
const script = `
const given = JSON.parse(document.getElementById("given").textContent);
const [button, said] = [document.querySelector("button"), document.getElementById("said")];
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
const text = (part) => btoa(String.fromCharCode(...new Uint8Array(part))).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
const keys = (list) => list.map((id) => ({ type: "public-key", id: bytes(id) }));
async function made() {
  const challenge = bytes(given.challenge);
  if (given.create) {
    const { user, excluded, ...more } = given.create;
    const publicKey = { ...more, challenge, user: { ...user, id: bytes(user.id) }, excludeCredentials: keys(excluded) };
    const { response } = await navigator.credentials.create({ publicKey });
    return { clientDataJSON: text(response.clientDataJSON), attestationObject: text(response.attestationObject) };
  }
  const { allowed, ...more } = given.get;
  const { id, response } = await navigator.credentials.get({ publicKey: { ...more, challenge, allowCredentials: keys(allowed) } });
  const { clientDataJSON, authenticatorData, signature } = response;
  return { id, clientDataJSON: text(clientDataJSON), authenticatorData: text(authenticatorData), signature: text(signature) };
}
button.addEventListener("click", async () => {
  button.disabled = true;
  said.textContent = "Touch your key now.";
  try {
    const body = JSON.stringify(await made());
    const answer = await fetch(location.pathname, { method: "POST", headers: { "content-type": "application/json" }, body });
    said.textContent = await answer.text();
    button.disabled = answer.ok;
  } catch (cause) {
    said.textContent = "Nothing was done (" + cause.name + "): try again, or close this page.";
    button.disabled = false;
  }
});
`;

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 4px solid #888; padding-left: 1rem; }
button { font: inherit; padding: 0.6rem 1.2rem; }
`;

/** The page; `nonce` is that of its `content-security-policy`. */
export function pageHtml(content: PageContent, challenge: string, nonce: string): string {
  const given = JSON.stringify({ ...content.options, challenge }).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sluicegate</title><style nonce="${nonce}">${style}</style></head>
<body><h1>${escaped(content.title)}</h1>
<pre>${content.lines.map(escaped).join("\n")}</pre>
<p><button type="button">${escaped(content.button)}</button></p><p id="said" role="status"></p>
<script type="application/json" id="given">${given}</script><script nonce="${nonce}">${script}</script></body></html>
`;
}

/** Nothing but this page's own script runs, no page may frame it, and it reaches nothing but its server. */
export function pageHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
