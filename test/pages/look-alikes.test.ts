import { expect, test } from "bun:test";

import { describeDestination, domainInAscii } from "../../src/pages/shared/destination-parts.ts";

function destinationsOf(hosts: string) {
  return hosts
    .trim()
    .split(/\s+/)
    .map((host) => {
      const { hostname } = new URL(`https://${host}/`);
      return { written: host, ...describeDestination(`https://${hostname}/`) };
    });
}

test("a name in letters that could be read as ASCII gets a warning", () => {
  const destinations = destinationsOf(`
    ɡoogle.com gooɡle.com ɢoogle.com googʟe.com ɑpple.com ɑmɑzon.com fɑcebook.com pɑypɑl.com nɑver.com kɑkao.com
    mıcrosoft.com paypaɩ.com lınkedın.com twıtter.com ınstagram.com netflıx.com gıthub.com ıcloud.com wıkıpedıa.org
    ʏahoo.com ʏoutube.com ɴaver.com ɴetflix.com ɪnstagram.com ʀeddit.com ʟinkedin.com ᴀpple.com ᴀmazon.com ᴘaypal.com
    ᴍicrosoft.com ᴠisa.com ᴡhatsapp.com ᴢoom.us ᴄoupang.com goᴏgle.com faceᴃook.com ꜱamsung.com coinbaꜱe.com
    ƒacebook.com þaypal.com ʋisa.com ɣahoo.com ǥoogle.com gɵɵgle.com ɾeddit.com ʇwitter.com ᴛwitter.com dɾopbox.com
    ꝺropbox.com amaʐon.com paypaⱡ.com ꭇeddit.com ᵷoogle.com www.secure-paypaɩ.com
    login.mıcrosoft.com.example аррӏе.com раураӏ.com ѕсоре.com осо.com хбох.com роре.com ѕаѕ.com ԛѕо.com һһх.com
    ονο.com σοσ.com ροσ.com ουρ.com հօոս.com ցօօց.com սցո.com ყჿ.com סוס.com اه.com
    pаypal.com аpple.com gооgle.com microsоft.com аmazon.com fаcebook.com nаver.com twittеr.com yаhoo.com
    netfliх.com gοogle.com αpple.com pαypal.com ϳpmorgan.com օffice.com ɡооgle.com
  `);
  expect(destinations.length).toBeGreaterThanOrEqual(90);
  expect(destinations.filter(({ isMistakable }) => !isMistakable).map(({ written }) => written)).toEqual([]);
});

test("ordinary names of many languages are shown as they are written, without a warning", () => {
  const destinations = destinationsOf(`
    bücher.de müller.de großmutter.de straße.de köln.de düsseldorf.de bäckerei.at möbel.ch schön.com übersetzer.eu
    kırtasiye.com.tr ısıtma.com.tr sığınak.com.tr çiçek.com türkiye.com.tr güneş.com şirket.com.tr ağaç.com kadıköy.bel.tr
    balıkçı.com ışıklar.com tığ.com azərbaycan.az
    việtnam.vn hànội.vn đànẵng.vn tiếngviệt.com dulịch.vn thờitrang.vn họcbổng.com phòngkhám.vn điệnmáy.vn côngty.com
    łódź.pl gdańsk.pl kraków.pl żabka.pl śląsk.pl książki.pl zdjęcia.com róża.pl miód.pl wrocław.com
    한국.kr 서울.com 삼성.한국 네이버.com 카카오.한국 부동산.kr 맛집.com 대한민국.kr 학교.한국 예시.com
    日本.jp 東京.jp にほん.jp スーパー.jp 寿司.com ラーメン.com 京都観光.jp 佐々木.jp 名古屋.com みかん.com
    россия.рф яндекс.рф москва.com почта.рф сбер.рф новости.com музей.рф школа.рф магазин.com погода.рус
    україна.укр їжа.com ελλάδα.gr αθήνα.gr παράδειγμα.gr שלום.com ישראל.com مصر.com السعودية.com भारत.com
    ไทย.com बैंक.भारत 中国.cn 北京.com 香港.hk café.fr hôtel.fr garçon.fr français.fr élysée.fr
    españa.es niño.es peña.com são-paulo.com.br coração.com.br über.org smørrebrød.dk læge.dk ångström.se
    københavn.dk øl.no þingvellir.is æðar.is český.cz žižkov.cz košice.sk győr.hu ștefan.ro București.ro řeka.cz
    љубав.срб հայաստան.հայ საქართველო.გე ኢትዮጵያ.com
  `);
  expect(destinations.length).toBeGreaterThanOrEqual(100);
  const misjudged = destinations.filter(
    ({ isMistakable, asciiHost }) => isMistakable || asciiHost === undefined,
  );
  expect(misjudged.map(({ written }) => written)).toEqual([]);
});

test('a Turkish name outside .tr and .az gets the warning if "ı" is its only other letter', () => {
  const destinations = destinationsOf("altın.com yatırım.com satılıkev.com altın.com.tr yatırım.az");
  expect(destinations.map(({ isMistakable }) => isMistakable)).toEqual([true, true, true, false, false]);
});

test("a button has a domain with other Latin letters in ASCII, and one in another script as it is written", () => {
  for (const [host, domain] of [
    ["www.paypạl.com", "xn--paypl-m11b.com"],
    ["ɡoogle.com", "xn--oogle-qmc.com"],
    ["www.bücher.de", "xn--bcher-kva.de"],
    ["www.한국.kr", "한국.kr"],
    ["яндекс.рф", "яндекс.рф"],
    ["www.example.com", "example.com"],
  ] as const) {
    const { hostname } = new URL(`https://${host}/`);
    expect([host, domainInAscii(describeDestination(`https://${hostname}/`))]).toEqual([host, domain]);
  }
});
