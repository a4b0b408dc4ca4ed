// The address of the repository. `package.json` has it, as `OWNER/curt`; it is empty until the repository is public. Documents and
// examples derive theirs and the version from it: `npm run reference` writes them, and a test compares them.
import packageJson from "../package.json";

/** Stands for the address until it is known. */
const PLACEHOLDER = "OWNER/curt";

interface Release {
  readonly repository: string;
  readonly version: string;
}

/** Files that name the repository, its image or its downloads. */
export const NAMING = [
  "README.md",
  "docs/install.md",
  "examples/compose.yaml",
  "examples/kubernetes.yaml",
  "deploy/compose.yaml",
  "deploy/fly.toml",
  "deploy/render.yaml",
  "deploy/unraid.xml",
];

/** Replaces the address and the version in names of downloads and images. Names of images have no capitals. */
export function nameRelease(text: string, { repository, version }: Release = packageJson): string {
  const name = repository === "" ? PLACEHOLDER : repository;
  return text
    .replaceAll(/(?<=https:\/\/github\.com\/)[\w-]+\/curt\b/g, name)
    .replaceAll(/(?<=\bio\.github\.)[\w-]+(?=\.curt\b)/g, name.toLowerCase().replace("/curt", ""))
    .replaceAll(/(?<=ghcr\.io\/)[\w-]+\/curt:[\d.]+\d/g, `${name.toLowerCase()}:${version}`)
    .replaceAll(/(?<=\/releases\/download\/v)[\d.]+\d/g, version)
    .replaceAll(/(?<=\bcurt-)[\d.]+\d(?=-linux|\.tgz)/g, version);
}

/** Throws while the repository's address is unknown. */
export function requireRepository(repository: string): void {
  if (!/^[\w-]+\/curt$/.test(repository))
    throw new Error(
      `repository in package.json must be ${PLACEHOLDER}, with its owner on GitHub, not "${repository}"`,
    );
}
