// Types of modules that have none of their own.

/** The Unicode data behind tr46's CheckJoiners, which it does not export by name. */
declare module "tr46/lib/regexes.js" {
  const regexes: {
    /** One character with Canonical_Combining_Class=Virama. */
    readonly combiningClassVirama: RegExp;
    /** A zero width non-joiner in the context of RFC 5892, appendix A.1, second rule. */
    readonly validZWNJ: RegExp;
  };
  export default regexes;
}

declare module "*.mmdb" {
  const path: string;
  export default path;
}

declare module "*.sql" {
  const sql: string;
  export default sql;
}
