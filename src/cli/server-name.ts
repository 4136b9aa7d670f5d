/** What a policy can name in `SERVER.TOOL`, whose server ends at the first dot; `host:` are the clients' own tools. */
export const serverShape = /^(?!host:)[^.*\p{Cc}]{1,64}$/u;

/** What such a name must be, to stand behind the option or word that gave another. */
export const serverRule = "must be a name that policies can tell from a tool: no dot, no `*`, not `host:...`";
