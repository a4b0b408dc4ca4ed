/**
 * Public services that shorten any address, with the hosts below them. Shorteners for a company's own pages, such as
 * youtu.be, hide nothing. Only their platforms create links of t.co, t.cn, lnkd.in and naver.me, but to any destination.
 */
const SHORTENERS: ReadonlySet<string> = new Set(
  `bit.ly bitly.com j.mp bit.do tinyurl.com tiny.one t.co lnkd.in goo.gl is.gd v.gd ow.ly buff.ly dlvr.it ift.tt
  rebrand.ly cutt.ly shorturl.at t.ly rb.gy tiny.cc tr.im su.pr s.id soo.gd clck.ru u.to x.gd 1url.com urlz.fr qr.ae
  shrtco.de 9qr.de kutt.it dub.sh spoo.me short.gy short.io adf.ly bc.vc ouo.io shorte.st linkvertise.com
  me2.do naver.me han.gl vo.la url.kr zrr.kr c11.kr abit.ly lrl.kr buly.kr muz.so t2m.kr
  gg.gg n9.cl da.gd u.nu bl.ink tny.im qrco.de acortar.link reurl.cc ppt.cc pse.is goo.su vk.cc t.cn`.split(
    /\s+/,
  ),
);
/** Google's own links to maps and photos. */
const NOT_SHORTENERS: ReadonlySet<string> = new Set(["app.goo.gl"]);

/** Whether links to this host, as in `URL.hostname`, hide their destination. */
export function isShortener(host: string): boolean {
  for (let name = host.replace(/\.+$/, ""); name.includes("."); name = name.slice(name.indexOf(".") + 1)) {
    if (NOT_SHORTENERS.has(name)) return false;
    if (SHORTENERS.has(name)) return true;
  }
  return false;
}
