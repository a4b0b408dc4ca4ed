/** A whole page for a given service. */
export type Page = (identity: Identity) => string;

/** The name and look of this service. Plain data, so that it can be sent to another thread. */
export interface Identity {
  readonly name: string;
  /** How to reach the operator, as a URI. */
  readonly contact: string | null;
  /** The address of the form that creates links. */
  readonly formPath: FormPath;
  /** Whether a proxy names people, who have a directory of links. */
  readonly hasPeople: boolean;
  readonly assets: IdentityAssets;
}

/** With HOME_URL, the form makes room at the root. */
export type FormPath = "/" | "/+new";

export interface IdentityAssets {
  readonly style: Asset;
  /** Only for the operator's pages. */
  readonly operatorStyle: Asset;
  readonly script: Asset;
  /** Only for the page of the links created in a browser. */
  readonly myLinks: Asset;
  readonly icon: Asset;
  readonly manifest: Asset;
  /** PNG, for clients without SVG. An operator's SVG logo has none. */
  readonly touchIcon?: Asset;
  readonly largeIcon?: Asset;
}

/** A file that pages load. */
export interface Asset {
  /** Its address, which changes with the content, so that caches can keep it forever. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly encoding: "utf8" | "base64";
}
