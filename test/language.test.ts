import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { LANGUAGES, message } from "../src/language/messages.ts";
import { ROOT, temporaryFolder } from "./service.ts";

const LANGUAGE = join(ROOT, "src/language");

/** Changes a copy of src/language/ and reads its catalogues. */
async function readChanged(change: (folder: string) => void): Promise<string> {
  using folder = temporaryFolder();
  cpSync(LANGUAGE, folder.path, { recursive: true });
  change(folder.path);
  const script = `import { readCatalogues } from "./catalogues.ts"; console.log(Object.keys(readCatalogues()).join());`;
  const child = Bun.spawnSync([process.execPath, "-e", script], { cwd: folder.path, stderr: "pipe" });
  return child.stdout.toString().trim() || child.stderr.toString();
}

function edit(folder: string, file: string, edits: (catalogue: Record<string, string>) => void): void {
  const catalogue = JSON.parse(readFileSync(join(folder, file), "utf8")) as Record<string, string>;
  edits(catalogue);
  writeFileSync(join(folder, file), JSON.stringify(catalogue));
}

test("English comes first, Japanese and Korean are there", () => {
  expect(LANGUAGES).toEqual(["en", "ja", "ko"]);
  expect(message("ja", "field.required")).toBe("必須です。");
  expect(message("ko", "field.required")).toBe("필수 항목입니다.");
});

test("adding a language is adding one file", async () => {
  expect(await readChanged((folder) => cpSync(join(folder, "en.json"), join(folder, "fr.json")))).toBe(
    "en,fr,ja,ko",
  );
});

test("a catalogue fails if a message is missing or added, or has other placeholders", async () => {
  const missing = await readChanged((folder) =>
    edit(folder, "ko.json", (messages) => delete messages["taken"]),
  );
  expect(missing).toContain("ko.json differs from en.json in: taken");
  const extra = await readChanged((folder) =>
    edit(folder, "ko.json", (messages) => (messages["hello"] = "안녕")),
  );
  expect(extra).toContain("ko.json differs from en.json in: hello");
  const placeholder = await readChanged((folder) =>
    edit(folder, "ko.json", (messages) => (messages["expired"] = "끝")),
  );
  expect(placeholder).toContain("ko.json differs from en.json in: expired");
});

test("every message has a use", () => {
  const sources = [...new Bun.Glob("**/*.{ts,tsx}").scanSync(join(ROOT, "src"))].map((file) =>
    readFileSync(join(ROOT, "src", file), "utf8"),
  );
  const code = sources.join("\n");
  // A key is used if the code has it as a string, or as a template with one part left out that is a string elsewhere.
  const isUsed = (key: string) => {
    const parts = key.split(".");
    const put = parts.map((part, nth) => ({ part, pattern: parts.with(nth, "\\$\\{[^}`]+\\}").join("\\.") }));
    return (
      code.includes(`"${key}"`) ||
      put.some(({ part, pattern }) => code.includes(`"${part}"`) && new RegExp(`\`${pattern}\``).test(code))
    );
  };
  const keys = Object.keys(JSON.parse(readFileSync(join(LANGUAGE, "en.json"), "utf8")) as object);
  expect(keys.filter((key) => !isUsed(key))).toEqual([]);
});
