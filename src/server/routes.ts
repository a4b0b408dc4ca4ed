// Every endpoint but the redirect, by its address. A start loads this file a second later.
import {
  changeLink,
  disableAll,
  disableLink,
  enableAll,
  enableLink,
  eraseLink,
  handOverAll,
  inspectLink,
  inspectStatistics,
  searchForLinks,
} from "../api/admin/operator-links.ts";
import {
  answerCase,
  blockHost,
  getCases,
  getFigures,
  getHosts,
  getJournal,
  undoDecision,
  unblockHost,
} from "../api/admin/operator-lists.ts";
import { getIndex } from "../api/api-index.ts";
import { checkCode } from "../api/check-code.ts";
import { createLinks } from "../api/create-batch.ts";
import { createLink } from "../api/create-link.ts";
import { followLink } from "../api/follow-link.ts";
import { getLink } from "../api/get-link.ts";
import { getStatistics } from "../api/get-statistics.ts";
import { listOwnLinks } from "../api/list-own-links.ts";
import { getDocument } from "../api/openapi/document.ts";
import { reportLink } from "../api/report-link.ts";
import { getInformation, shorten } from "../api/shorten.ts";
import { updateLink } from "../api/update-link.ts";
import { withdrawLink } from "../api/withdraw-link.ts";
import { table } from "../http/endpoint.ts";
import { describeSearch, goTo } from "../pages/address-bar/handler.ts";
import { decideAll, showDecideAll } from "../pages/admin/decide-all.tsx";
import { showDesk } from "../pages/admin/desk.tsx";
import { showFigures } from "../pages/admin/figures.tsx";
import { decideLinks, showLinks } from "../pages/admin/found-links.tsx";
import { decideHost, showHosts } from "../pages/admin/hosts.tsx";
import { showJournal, undoForm } from "../pages/admin/journal.tsx";
import { decideLink, showLink } from "../pages/admin/link.tsx";
import { showDirectory } from "../pages/directory/handler.tsx";
import { goHome, sendNewForm, showNew } from "../pages/home/elsewhere.ts";
import { sendHomeForm, showHome } from "../pages/home/handler.ts";
import { manageLink, showKeyForm } from "../pages/manage/handler.ts";
import { showMyLinks } from "../pages/my-links/page.tsx";
import { showPreview } from "../pages/preview/handler.ts";
import { showPrivacy } from "../pages/privacy/page.tsx";
import { showQrPage } from "../pages/qr/handler.ts";
import { qrPng, qrSvg } from "../pages/qr/qr-image.ts";
import { showReference } from "../pages/reference/page.tsx";
import { sendReport, showReportAny, showReported, showReportForm } from "../pages/report/handler.ts";
import { signIn, signOut } from "../pages/sign-in/handler.ts";
import type { OperatorParts, PublicParts, ViewParts } from "./app-parts.ts";
import { moved, movedBehind, type NoticeParts, robots, security } from "./instance-endpoints.ts";

/** The OpenAPI document lists those of the API in this order. */
export const PUBLIC = table<PublicParts, ViewParts>()({
  "POST /api/v1/shorten": shorten,
  "POST /api/v1/links": createLink,
  "POST /api/v1/links/batch": createLinks,
  "GET /api/v1": getIndex,
  "GET /api/v1/shorten": getInformation,
  "GET /api/v1/links/{code}": getLink,
  "PATCH /api/v1/links/{code}": updateLink,
  "DELETE /api/v1/links/{code}": withdrawLink,
  "GET /api/v1/codes/{code}": checkCode,
  "GET /api/v1/links/{code}/stats": getStatistics,
  "POST /api/v1/links/{code}/reports": reportLink,
  "GET /{code}": followLink,
  "GET /{code}.svg": qrSvg,
  "GET /{code}.png": qrPng,
  "GET /api/v1/openapi.json": getDocument,
  "GET /api": moved("GET /api", () => "/api/v1"),
  "GET /": showHome,
  "POST /": sendHomeForm,
  "GET /docs": showReference,
  "GET /{code}+": showPreview,
  "GET /{code}+qr": showQrPage,
  "GET /{code}+report": showReportForm,
  "POST /{code}+report": sendReport,
  "GET /{code}+manage": showKeyForm,
  "POST /{code}+manage": manageLink,
  "GET /{code}/+": movedBehind("+"),
  "GET /{code}/+qr": movedBehind("+qr"),
  "GET /{code}/+report": movedBehind("+report"),
  "GET /{code}/+manage": movedBehind("+manage"),
  "GET /+report": showReportAny,
  "GET /+reported": showReported,
  "GET /+privacy": showPrivacy,
  "GET /+links": showMyLinks,
  "GET /+go": goTo,
  "GET /+search.xml": describeSearch,
  "GET /robots.txt": robots,
});

/** Only where a proxy names people. */
export const PEOPLE = table<PublicParts, ViewParts>()({
  "GET /api/v1/links": listOwnLinks,
  "GET /+all": showDirectory,
});

/** Only for domains with a HOME_URL. */
export const HOME_ELSEWHERE = table<PublicParts, ViewParts>()({
  "GET /": goHome,
  "GET /+new": showNew,
  "POST /+new": sendNewForm,
});

/** Only with CONTACT. */
export const NOTICES = table<NoticeParts, ViewParts>()({
  "GET /.well-known/security.txt": security,
});

/** Only if there may be operators. */
export const OPERATOR = table<OperatorParts, ViewParts>()({
  "GET /api/v1/admin/links": searchForLinks,
  "POST /api/v1/admin/links/disable": disableAll,
  "POST /api/v1/admin/links/enable": enableAll,
  "POST /api/v1/admin/links/hand-over": handOverAll,
  "GET /api/v1/admin/links/{code}": inspectLink,
  "PATCH /api/v1/admin/links/{code}": changeLink,
  "DELETE /api/v1/admin/links/{code}": eraseLink,
  "GET /api/v1/admin/links/{code}/stats": inspectStatistics,
  "POST /api/v1/admin/links/{code}/disable": disableLink,
  "POST /api/v1/admin/links/{code}/enable": enableLink,
  "GET /api/v1/admin/hosts": getHosts,
  "PUT /api/v1/admin/hosts/{host}": blockHost,
  "DELETE /api/v1/admin/hosts/{host}": unblockHost,
  "GET /api/v1/admin/cases": getCases,
  "POST /api/v1/admin/cases/{code}": answerCase,
  "GET /api/v1/admin/figures": getFigures,
  "GET /api/v1/admin/journal": getJournal,
  "POST /api/v1/admin/decisions/{id}/undo": undoDecision,
  "GET /admin": showDesk,
  "POST /admin": signIn,
  "POST /admin/sign-out": signOut,
  "GET /admin/links": showLinks,
  "GET /admin/links/{code}": showLink,
  "POST /admin/links/{code}": decideLink,
  "GET /admin/found": showDecideAll,
  "POST /admin/links": decideLinks,
  "POST /admin/found": decideAll,
  "GET /admin/hosts": showHosts,
  "POST /admin/hosts": decideHost,
  "GET /admin/figures": showFigures,
  "GET /admin/journal": showJournal,
  "POST /admin/journal": undoForm,
});
