/** URLs as the WHATWG URL standard serialises them, without the fragment, which no server sees. */
import { canonicalTextUnitsMax } from "./limits.ts";
import { isPlain, normaliseText } from "./text.ts";

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const control = /\p{Cc}/u;

/**
 * Canonical URL, or undefined for text without a scheme, with control characters inside (the parser would drop them,
 * so that `exa<TAB>mple.com` became `example.com`), or with a host that needs compatibility mapping.
 */
export function canonicalUrl(text: string): string | undefined {
  if (text.length > canonicalTextUnitsMax) return undefined;
  const trimmed = normaliseText(text);
  if (!scheme.test(trimmed) || control.test(trimmed) || !isPlain(authorityOf(trimmed))) return undefined;
  const once = withoutFragment(trimmed);
  // Opaque paths may end in blanks that a second parse drops: a key must be its own canonical form.
  return once !== undefined && withoutFragment(once) === once ? once : undefined;
}

function withoutFragment(text: string): string | undefined {
  try {
    const { href } = new URL(text);
    const hash = href.indexOf("#");
    return hash < 0 ? href : href.slice(0, hash);
  } catch {
    return undefined;
  }
}

function authorityOf(text: string): string {
  const rest = text.slice(text.indexOf(":") + 1).replace(/^[/\\]{1,8}/, "");
  const end = rest.search(/[/\\?#]/);
  return end < 0 ? rest : rest.slice(0, end);
}
