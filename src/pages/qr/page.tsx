/** @jsxImportSource ../shared/html */
import { ERROR_CORRECTIONS, MARGINS, type QrStyle, SIZES } from "../../api/qr-bounds.ts";
import type { Page } from "../../http/page.ts";
import type { PublicTerms } from "../../links/link.ts";
import { message } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { describedBy, FieldError, type FieldErrors, TextField, VERBATIM } from "../shared/form-fields.tsx";
import { richMessage } from "../shared/in-words.ts";
import { page } from "../shared/layout.tsx";
import { FlagFact, flagsOf } from "../shared/link-facts.tsx";
import { Menu } from "../shared/menu.tsx";
import { withoutScheme } from "../shared/ticket.tsx";
import { InlineQr, qrPath, Sheet } from "./qr-code.tsx";
import { modulesOf } from "./qr-matrix.ts";
import { judge, type Verdict, type Word } from "./qr-style.ts";

export const QR_FIELDS = ["dark", "light", "ecc", "margin", "size"] as const;
type QrField = (typeof QR_FIELDS)[number];

export interface QrView {
  readonly terms?: PublicTerms | undefined;
  readonly code: string;
  readonly shortUrl: string;
  /** Undefined if it is secret, behind the link's password. */
  readonly target: string | undefined;
  readonly style: QrStyle;
  /** The values in the query, valid or not. */
  readonly form: Readonly<Partial<Record<QrField, string>>>;
  readonly errors: FieldErrors<QrField>;
}

/** In CSS pixels. */
const WIDTH = 400;
const COLOURS = ["dark", "light"] as const;

/** A link's QR code, large, and the form that styles it. */
export function qrPage(language: string, view: QrView): Page {
  const { code, shortUrl, target, style, form, errors } = view;
  const path = `/${encodeURIComponent(code)}`;
  const title = message(language, "preview.qr", { address: withoutScheme(shortUrl) });
  const flags = flagsOf(view);
  const verdict = judge(style, modulesOf(shortUrl, style.ecc).length);
  const isRefused = verdict.isRefused || Object.keys(errors).length > 0;
  const own = (
    <bdi class="short" dir="ltr">
      /{code}
    </bdi>
  );
  return page(
    language,
    { title: isRefused ? `${message(language, "report.refused")} – ${title}` : title, query: form },
    <>
      <div class="title-row wide">
        <h1>{richMessage(language, "preview.qr", { address: own })}</h1>
        <a class="button" href={`${path}+`} rel="nofollow">
          {message(language, "manage.preview")}
        </a>
      </div>
      <div class="columns wide styling">
        <div>
          <Sheet
            language={language}
            shortUrl={shortUrl}
            destination={target === undefined ? undefined : describeDestination(target)}
          >
            <div class="picture">
              <InlineQr shortUrl={shortUrl} style={style} label={title} width={WIDTH} />
            </div>
          </Sheet>
          <div aria-live="polite" id="verdict">
            {(["enough", "weak", "low", "inverted", "size"] as const).map((word) => (
              <Judgement language={language} word={word} verdict={verdict} style={style} />
            ))}
          </div>
          {flags.length > 0 && (
            <dl class="lifetime">
              {flags.map((name) => (
                <FlagFact {...{ language, name }} />
              ))}
            </dl>
          )}
        </div>
        {/* A browser can't point at an invalid value in a closed `details`, but the server can. */}
        <form class="card" action={qrPath(path)} data-qr={path} novalidate>
          <ErrorCorrection language={language} {...view} />
          <div class="colours">
            {COLOURS.map((field) => (
              <Colour language={language} {...view} field={field} verdict={verdict} />
            ))}
          </div>
          <details class="fold" open={form.size !== undefined || form.margin !== undefined}>
            <summary>
              {message(language, "qr.fold")}
              <span class="soft">
                {message(language, "qr.contents", { margin: style.margin, size: style.size })}
              </span>
            </summary>
            <Measure language={language} {...view} field="margin" />
            <Measure language={language} {...view} field="size" />
          </details>
          <button data-apply>{message(language, "qr.show")}</button>
          <Downloads language={language} path={path} style={style} isRefused={verdict.isRefused} />
        </form>
      </div>
    </>,
  );
}

interface DownloadsProps extends Pick<QrView, "style"> {
  readonly language: string;
  readonly path: string;
  readonly isRefused: boolean;
}

/** A poster needs a drawing that is sharp at any size. */
function Downloads({ language, path, style, isRefused }: DownloadsProps) {
  const answers = {
    "data-done": message(language, "copied"),
    "data-failed": message(language, "qr.copy.failed"),
  };
  return (
    <div class="actions">
      {(style.ecc === "h" ? (["svg", "png"] as const) : (["png", "svg"] as const)).map((format, nth) => [
        " ",
        <a
          class={nth === 0 ? "button primary" : "button"}
          {...(isRefused
            ? { "aria-disabled": "true", "aria-describedby": "verdict", role: "link" }
            : { href: `${path}.${format}?${queryOf(style)}` })}
          {...{ "data-format": format, download: true }}
        >
          {message(language, `qr.${format}`)}
        </a>,
      ])}
      <Menu
        id="more"
        kind="needs-script"
        label={message(language, "page.more")}
        sign={<span aria-label={message(language, "page.more")}>⋯</span>}
      >
        <button {...{ type: "button", disabled: isRefused, "data-copy-image": true, ...answers }}>
          {message(language, "qr.copy")}
        </button>
        <button type="button" data-print disabled={isRefused}>
          {message(language, "qr.print")}
        </button>
      </Menu>{" "}
      <output></output>
    </div>
  );
}

function queryOf(style: QrStyle): string {
  return new URLSearchParams({ ...style, margin: `${style.margin}`, size: `${style.size}` }).toString();
}

interface ChoiceProps extends Pick<QrView, "style" | "errors"> {
  readonly language: string;
}

type ColourProps = MeasureProps<(typeof COLOURS)[number]> & { readonly verdict: Verdict };

/** Its digits, and before them a swatch where scripts run. Some browsers' Tab skips swatches. */
function Colour({ language, field, style, form, errors, verdict }: ColourProps) {
  const label = message(language, `qr.${field}`);
  // The verdict already reports too little contrast.
  const ownErrors = verdict.isRefused ? {} : errors;
  return (
    <div class="field">
      <label for={field}>{label}</label>
      <div class="colour">
        <input
          type="color"
          value={`#${style[field]}`}
          aria-label={`${message(language, "qr.colours")}: ${label}`}
          hidden
        />
        <input
          {...{ id: field, name: field, maxlength: 7, pattern: "#?[0-9A-Fa-f]{6}", ...VERBATIM }}
          value={field in ownErrors ? form[field] : `#${style[field]}`}
          {...describedBy(field, ownErrors, "verdict")}
          {...(verdict.isRefused && field === "dark" && { "aria-invalid": "true" })}
        />
      </div>
      <FieldError field={field} errors={ownErrors} />
    </div>
  );
}

/** Offers uses of the code, which need different error correction. */
function ErrorCorrection({ language, style, errors }: ChoiceProps) {
  return (
    <fieldset class="field">
      <legend>{message(language, "qr.ecc")}</legend>
      <div class="choices halves">
        {ERROR_CORRECTIONS.map((ecc) => (
          <label>
            <input type="radio" name="ecc" value={ecc} checked={ecc === style.ecc} />
            <span>
              {message(language, `qr.ecc.${ecc}`)}
              <small>{message(language, `qr.ecc.${ecc}.hint`)}</small>
            </span>
          </label>
        ))}
      </div>
      <FieldError field="ecc" errors={errors} />
    </fieldset>
  );
}

type MeasureProps<Field extends QrField = "margin" | "size"> = ChoiceProps &
  Pick<QrView, "form"> & { readonly field: Field };

const RANGES = { margin: MARGINS, size: SIZES };

function Measure({ language, field, style, form, errors }: MeasureProps) {
  return (
    <TextField
      name={field}
      label={message(language, `qr.${field}`)}
      hint={message(language, `qr.${field}.hint`)}
      errors={errors}
      input={{ type: "number", value: form[field] ?? style[field], required: true, ...RANGES[field] }}
    />
  );
}

interface JudgementProps {
  readonly language: string;
  readonly word: Word;
  readonly verdict: Verdict;
  readonly style: QrStyle;
}

/** A part of the verdict. The script fills and empties it: browsers without styles would show hidden words. */
function Judgement({ language, word, verdict, style }: JudgementProps) {
  const refuses = word === "low" || word === "inverted";
  const swap = message(language, "qr.swap");
  const link = (
    <a href={`?${queryOf({ ...style, dark: style.light, light: style.dark })}`} data-swap>
      {swap}
    </a>
  );
  const key = `qr.word.${word}` as const;
  const values = { contrast: verdict.contrast, size: verdict.minSize, swap: link };
  return (
    <p
      class={refuses ? "error" : `hint ${word}`}
      {...{ "data-word": word, "data-text": message(language, key), "data-swap-text": swap }}
    >
      {verdict.words.includes(word) && richMessage(language, key, values)}
    </p>
  );
}
