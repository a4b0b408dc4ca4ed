import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { LANGUAGES, message } from "../../src/locales/messages.ts";
import { ROOT, temporaryFolder } from "../support/service.ts";

const LANGUAGE = join(ROOT, "src/locales");

/** Changes a copy of src/locales/, and reads its catalogues there. */
async function readChanged(change: (folder: string) => void): Promise<string> {
  using folder = temporaryFolder();
  cpSync(LANGUAGE, folder.path, { recursive: true });
  change(folder.path);
  const script = `import { readCatalogues } from "./catalogues.ts"; console.log(Object.keys(readCatalogues()).join());`;
  const child = Bun.spawnSync([process.execPath, "-e", script], { cwd: folder.path, stderr: "pipe" });
  return child.stdout.toString().trim() || child.stderr.toString();
}

function edit(folder: string, file: string, edits: (catalogue: Record<string, unknown>) => void): void {
  const catalogue = JSON.parse(readFileSync(join(folder, file), "utf8")) as Record<string, unknown>;
  edits(catalogue);
  writeFileSync(join(folder, file), JSON.stringify(catalogue));
}

test("the languages are English, Japanese and Korean, in this order", () => {
  expect(LANGUAGES).toEqual(["en", "ja", "ko"]);
  expect(message("ja", "field.required")).toBe("必須です。");
  expect(message("ko", "field.required")).toBe("필수 항목입니다.");
});

test("a new file adds a language", async () => {
  expect(await readChanged((folder) => cpSync(join(folder, "en.json"), join(folder, "fr.json")))).toBe(
    "en,fr,ja,ko",
  );
});

test("a catalogue is refused if a message is missing, added or has other placeholders", async () => {
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

test("a plural needs exactly the forms of its language, or one text if the language has none", async () => {
  const { links, password } = { links: "admin.found.links", password: "password.left" };
  /** Creates a Russian catalogue from the English one, with these forms of one message. */
  const russian = (forms: unknown) =>
    readChanged((folder) => {
      writeFileSync(join(folder, "ru.json"), JSON.stringify({}));
      edit(folder, "ru.json", (messages) => {
        const english = JSON.parse(readFileSync(join(folder, "en.json"), "utf8")) as Record<string, unknown>;
        for (const [key, text] of Object.entries(english))
          messages[key] =
            typeof text === "string"
              ? text
              : { one: "{count} a", few: "{count} b", many: "{count} c", other: "{count} d" };
        messages[links] = forms;
      });
    });
  expect(
    await russian({ one: "ссылка", few: "{count} ссылки", many: "{count} ссылок", other: "{count} ссылки" }),
  ).toBe("en,ja,ko,ru");
  for (const forms of [
    "{count} ссылок",
    { one: "{count} ссылка", other: "{count} ссылки" },
    { one: "{count} ссылка", few: "{count} ссылки", many: "{count} ссылок", other: "ссылки" },
    { one: "{number} ссылка", few: "{count} ссылки", many: "{count} ссылок", other: "{count} ссылки" },
  ])
    expect(await russian(forms)).toContain(`ru.json differs from en.json in: ${links}`);
  expect(
    await readChanged((folder) =>
      edit(folder, "ja.json", (messages) => (messages[password] = { one: "{count}", other: "{count}" })),
    ),
  ).toContain(`ja.json differs from en.json in: ${password}`);
});

test.each([
  ["en", ["0 links", "1 link", "2 links", "1,234 links"]],
  ["ja", ["リンク0件", "リンク1件", "リンク2件", "リンク1,234件"]],
  ["ko", ["링크 0개", "링크 1개", "링크 2개", "링크 1,234개"]],
])("counts have the right plural in %s", (language, texts) => {
  expect([0, 1, 2, 1234].map((count) => message(language, "admin.found.links", { count }))).toEqual(texts);
});

test("the code uses every message", () => {
  const sources = [...new Bun.Glob("**/*.{ts,tsx}").scanSync(join(ROOT, "src"))].map((file) =>
    readFileSync(join(ROOT, "src", file), "utf8"),
  );
  const code = sources.join("\n");
  const strings = new Set(code.match(/(?<=")[\w.-]+(?=")/g));
  const properties = new Set(code.match(/(?<= )[\w.-]+(?=: )/g));
  const templates = (code.match(/`[\w.-]*\$\{[^`\n]*`/g) ?? []).join("\n");
  // The code uses a key as a string, or as a template whose variable parts are a string or property elsewhere.
  const isUsed = (key: string) => {
    const parts = key.split(".");
    const put = parts.flatMap((_first, from) =>
      parts.slice(from).map((_last, more) => ({
        part: parts.slice(from, from + more + 1).join("."),
        pattern: parts.toSpliced(from, more + 1, "\\$\\{[^}`]+\\}").join("\\."),
      })),
    );
    return (
      strings.has(key) ||
      put.some(
        ({ part, pattern }) =>
          (strings.has(part) || properties.has(part)) && new RegExp(`\`${pattern}\``).test(templates),
      )
    );
  };
  const keys = Object.keys(JSON.parse(readFileSync(join(LANGUAGE, "en.json"), "utf8")) as object);
  expect(keys.filter((key) => !isUsed(key))).toEqual([]);
});

/** The glossary: a term, and the words for it that must not appear. */
const GLOSSARY: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  en: {
    create: /\b(?:[Mm]ake|made|making)\b(?! sure)/,
    destination: /\bleads? (?:on|nowhere)\b|\b[Ww]here (?:it|they|this link|the link) leads?\b/,
    withdraw: /\btake back\b|\bend (?:a|this|the) link\b/i,
    bots: /\bprograms?\b/i,
    operator: /\bwho runs\b/,
    "manage link": /manage address/i,
    "short address": /\bshort URL\b/,
  },
  ja: {
    終了: /取り消/,
    アクセス数: /訪問数|アクセス回数|利用回数/,
    短縮URL: /短いURL/,
    表示単位: /棒の/,
    管理用リンク: /管理用(?:の)?URL|管理アドレス/,
    運営者: /管理者/,
    "（": /[ぁ-んァ-ヶ一-龠] ?\(/,
  },
  ko: {
    "링크 종료": /철회|끝냅|끝내|끝납/,
    목적지: /연결되[는던] 곳|도착지/,
    "관리 링크": /관리 주소/,
    "짧은 주소": /단축 (?:주소|URL|링크)/,
    필요: /물어봄/,
    "표시 단위": /막대/,
    "추가 설정": /더 많은 설정/,
    운영자: /운영하는 사람|관리자/,
  },
};

test.each(Object.entries(GLOSSARY))("each term of the glossary has one name in %s", (language, terms) => {
  const catalogue = JSON.parse(readFileSync(join(LANGUAGE, `${language}.json`), "utf8")) as object;
  const texts = Object.entries(catalogue).map(([key, text]) => `${key}: ${JSON.stringify(text)}`);
  const violations = Object.entries(terms).flatMap(([term, other]) =>
    texts.filter((text) => other.test(text.slice(text.indexOf(": ")))).map((text) => `${term}, not ${text}`),
  );
  expect(violations).toEqual([]);
});
