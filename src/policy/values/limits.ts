/** Named limits of the policy language. Each keeps a hostile or mistaken file from costing more than it says. */

/** UTF-8 length is at most three times this; policies are written by hand. */
export const policyTextUnitsMax = 524_288;

/** Aliases that one document may expand; beyond it the file is taken for an alias bomb. */
export const policyAliasesMax = 100;

/** Values in one document after aliases are expanded. */
export const policyValuesMax = 200_000;

/** Nesting of a policy document. */
export const policyDepthMax = 64;

/** Brackets open at once anywhere in the text, quoted ones too: the YAML lexer is quadratic in them. */
export const policyBracketsMax = 5_000;

/** Diagnostics reported for one policy; the rest is counted only. */
export const diagnosticsMax = 100;

/** Documents joined through `extends` and `pack`. */
export const policyDocumentsMax = 64;

/** Nesting of `not`, `all`, `any` in one argument test. */
export const testDepthMax = 16;

/** Leaves of one argument that a test looks at; a longer list fails what must hold for all and passes what restricts. */
export const testLeavesMax = 10_000;

/** UTF-16 units of one text leaf that a test looks at; longer text counts as one that cannot be judged. */
export const testTextUnitsMax = 1_048_576;

/** Evaluation steps of one JSON Schema test; a value that needs more cannot be judged. */
export const schemaStepsMax = 100_000;

/** UTF-16 units of a regular expression or glob in a policy. */
export const patternUnitsMax = 1_024;

/** Arguments that inference and contracts look at; a tool with more has the rest treated as unknown. */
export const argumentsMax = 512;

/** UTF-16 units of JSON that an injected call takes over from the call that needs it; more is refused. */
export const injectedUnitsMax = 65_536;

/** Places that one injected call may refer to. */
export const referencesMax = 64;

/** UTF-16 units of one program that a rule asks. */
export const programUnitsMax = 65_536;

/** Leases of one policy; each is looked at for every call and list entry. */
export const leasesMax = 256;

/** Largest shortlist that can be asked for; a longer one would leave nothing out. */
export const shortlistToolsMax = 10_000;

/** Accepted readings of one document; their text stays well within that of a policy. */
export const readingsMax = 1_024;

/** Entries of one list of a scope. */
export const scopeEntriesMax = 256;

/** UTF-16 units of one value that a scope sets in the environment. */
export const variableUnitsMax = 8_192;

/** Named limits of canonical forms; each keeps a hostile argument from costing more than its own length. */

/** UTF-16 units of a text that may have a canonical form; longer text has none (an address or a path is short). */
export const canonicalTextUnitsMax = 8_192;

/** Digits of an exact decimal, on both sides of the point together; covers every finite double. */
export const decimalDigitsMax = 1_100;

/** Keys that one argument may give to a keyed rule; a longer list has no keys and is refused where keys are needed. */
export const keysOfArgumentMax = 1_024;
