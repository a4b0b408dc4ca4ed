import { REASONS } from "../../src/links/problem.ts";
import type { Target } from "../../src/links/target.ts";
import { DAY_MS } from "../../src/links/time.ts";
import { openStore } from "../../src/store/open.ts";
import { slicesOf } from "../visits/slices.ts";
import { newLink, NOW } from "./links.ts";

const TODAY = Math.floor(NOW / DAY_MS);

/** The hash of a password. */
export const HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$8c2Os7z+n5MOC+gSMLzYInwo7tkVqzITXXoQGoMtYoI$TdOHDK4zoVOudCfO3dKCH+lreOEx18foEpQSLuQqQEE";

/** Creates a store as an instance leaves it after a while, with rows of every kind. */
export async function createServedStore(path: string): Promise<void> {
  const store = await openStore({ engine: "sqlite", path });
  const codes = ["plain", "한글", "👩‍❤‍💋‍👨", "ends", "ended", "reused", "bad", "gone", "reported"];
  const links = codes.map((code, nth) => newLink(code, { createdMs: NOW - 1000 + nth }));
  await store.insert(links);
  const request = { key: "the hash of a key", body: "the hash of a body", sentMs: NOW };
  await store.insertOnce([{ ...newLink("ends2", { endsMs: NOW + DAY_MS }), nth: 0 }], request);
  await store.insert([
    newLink("other", {
      originalUrl: "HTTP://Example.com/ü",
      target: "http://example.com/%C3%BC" as Target,
      terms: { startsMs: NOW, maxVisits: 2, passwordHash: HASH, createdBy: "mina@example.com" },
    }),
  ]);
  const idOf = (code: string) => links.find((link) => link.code === code) ?? newLink(code);
  for (const code of ["ends", "ended", "reused"])
    await store.update(idOf(code), { type: "edit", atMs: 0, endsMs: NOW - 500 });
  const destination = { originalUrl: "https://new.example/", target: "https://new.example/" as Target };
  await store.update(idOf("reported"), { type: "edit", atMs: NOW, destination: destination });
  await store.update(newLink("other"), { type: "visit", atMs: NOW });
  await store.secret(new Uint8Array([0, 255, 39]));
  await store.insert([newLink("reused", { createdMs: NOW + 9, freeIfEndedByMs: NOW })]);
  const decision = { who: "api", atMs: NOW, note: "a note with \0 and 'quotes'" } as const;
  await store.disable([idOf("bad")], { ...decision, reason: "phishing" });
  await store.disable([idOf("plain")], { ...decision, reason: "spam" });
  await store.enable([idOf("plain")], decision);
  await store.blockHost({ host: "evil.example", reason: "malware" }, decision);
  await store.blockHost({ host: "한.example", reason: "spam" }, { who: "api", atMs: NOW + 1 });
  await store.unblockHost("한.example", decision);
  for (const [hour, source, visits] of [
    [24 * (TODAY - 500), "a", [{ code: "plain" }, { code: "한글", bot: true }]],
    [
      24 * (TODAY - 2),
      "a",
      [
        { code: "plain", visitor: 1 },
        { code: "plain", visitor: 2, browser: "Odd 'one'" },
      ],
    ],
    [24 * TODAY + 1, "b", [{ code: "plain", visitor: 1 }, { code: "gone" }]],
    [24 * TODAY + 2, "c", [{ code: "plain", visitor: 7 }, { code: "👩‍❤‍💋‍👨" }]],
  ] as const) {
    const identified = visits.map((one) => ({ ...one, createdMs: idOf(one.code).createdMs }));
    for (const slice of slicesOf({ source: source + hour, hour, visits: identified })) await store.add(slice);
  }
  while ((await store.age({ closeBefore: TODAY, forgetBefore: TODAY - 400 }, 100)) > 0);
  await store.erase(idOf("gone"), decision);
  await store.salt(TODAY, TODAY);
  await store.salt(TODAY + 1, TODAY);
  await store.count(TODAY, { created: 7, refused: 1 });
  for (const [nth, note] of [undefined, "one\0", "two", "👀"].entries())
    await store.report({
      ...idOf(nth === 3 ? "bad" : "reported"),
      reason: REASONS[nth] ?? "other",
      reporter: `reporter ${nth}`,
      day: TODAY,
      atMs: NOW + nth,
      works: nth !== 3,
      targetSinceMs: 0,
      note,
    });
  await store.answerCase(idOf("bad"), { action: "nothing" }, decision);
  await store.close();
}
