/** @jsxImportSource ../shared/html */
import { ERROR_CORRECTIONS, MARGINS, type QrStyle, SIZES } from "../../api/qr-bounds.ts";
import type { Page } from "../../http/page.ts";
import { forwardsQuery, type WithTerms } from "../../links/link.ts";
import { message } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FieldError, type FieldErrors, TextField } from "../shared/fields.tsx";
import { richMessage } from "../shared/formats.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { page } from "../shared/layout.tsx";
import { QueryFact } from "../shared/link-facts.tsx";
import { Address, withoutScheme } from "../shared/ticket.tsx";
import { InlineQr, qrPath, Sheet } from "./qr-code.tsx";
import { modulesOf } from "./qr-matrix.ts";
import { judge, type Verdict, type Word } from "./qr-style.ts";

export const QR_FIELDS = ["dark", "light", "ecc", "margin", "size"] as const;
type QrField = (typeof QR_FIELDS)[number];

export interface QrView extends WithTerms {
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

/** A link's QR code, large, and the form that styles it. */
export function qrPage(language: string, view: QrView): Page {
  const { code, shortUrl, target, terms, style, form, errors } = view;
  const address = withoutScheme(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  const title = message(language, "preview.qr", { address });
  const verdict = judge(style, modulesOf(shortUrl, style.ecc).length);
  const isRefused = verdict.isRefused || Object.keys(errors).length > 0;
  return page(
    language,
    { title: isRefused ? `${message(language, "report.refused")} – ${title}` : title, query: form },
    <div class="styling">
      <Address language={language} url={shortUrl} preview={`${path}+`} />
      {forwardsQuery(view) && (
        <dl class="lifetime">
          <QueryFact language={language} terms={terms} />
        </dl>
      )}
      <div class="columns">
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
          <Downloads language={language} path={path} style={style} isRefused={verdict.isRefused} />
        </div>
        {/* A browser can't point at an invalid value in a closed `details`, but the server can. */}
        <form action={qrPath(path)} data-qr={path} novalidate>
          <Colours language={language} {...view} verdict={verdict} />
          <Measure language={language} {...view} field="size">
            <div aria-live="polite">
              <Judgement language={language} word="size" verdict={verdict} />
            </div>
          </Measure>
          <details class="more" open={form.ecc !== undefined || form.margin !== undefined}>
            <summary>{message(language, "qr.fold")}</summary>
            <ErrorCorrection language={language} {...view} />
            <Measure language={language} {...view} field="margin" />
          </details>
          <button>{message(language, "qr.show")}</button>
        </form>
      </div>
    </div>,
  );
}

interface DownloadsProps extends Pick<QrView, "style"> {
  readonly language: string;
  readonly path: string;
  readonly isRefused: boolean;
}

function Downloads({ language, path, style, isRefused }: DownloadsProps) {
  return (
    <div class="actions">
      {(["png", "svg"] as const).map((format) => [
        " ",
        <a
          class={format === "png" ? "button primary" : "button"}
          {...(isRefused
            ? { "aria-disabled": "true", role: "link" }
            : { href: `${path}.${format}?${queryOf(style)}` })}
          {...{ "data-format": format, download: true }}
        >
          {message(language, `qr.${format}`)}
        </a>,
      ])}
      <button
        {...{ type: "button", hidden: true, disabled: isRefused, "data-copy-image": true }}
        {...{ "data-done": message(language, "copied"), "data-failed": message(language, "qr.copy.failed") }}
      >
        {message(language, "qr.copy")}
      </button>
      <button type="button" data-print disabled={isRefused} hidden>
        {message(language, "qr.print")}
      </button>{" "}
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

function Colours({ language, style, errors, verdict }: ChoiceProps & { readonly verdict: Verdict }) {
  return (
    <fieldset class="field">
      <legend>{message(language, "qr.colours")}</legend>
      <div class="colours">
        {(["dark", "light"] as const).map((field) => (
          <label>
            <input type="color" name={field} value={`#${style[field]}`} /> {message(language, `qr.${field}`)}
          </label>
        ))}
      </div>
      <div aria-live="polite">
        {(["enough", "weak", "low", "inverted"] as const).map((word) => (
          <Judgement language={language} word={word} verdict={verdict} style={style} />
        ))}
      </div>
      {/* The verdict already reports too little contrast. */}
      {!verdict.isRefused && (
        <>
          <FieldError field="dark" errors={errors} />
          <FieldError field="light" errors={errors} />
        </>
      )}
    </fieldset>
  );
}

function ErrorCorrection({ language, style, errors }: ChoiceProps) {
  return (
    <fieldset class="field">
      <legend>{message(language, "qr.ecc")}</legend>
      <div class="list">
        {ERROR_CORRECTIONS.map((ecc) => (
          <label>
            <input type="radio" name="ecc" value={ecc} checked={ecc === style.ecc} />{" "}
            {message(language, `qr.ecc.${ecc}`)}
          </label>
        ))}
      </div>
      <FieldError field="ecc" errors={errors} />
    </fieldset>
  );
}

type MeasureProps = ChoiceProps &
  Pick<QrView, "form"> & { readonly field: "margin" | "size"; readonly children?: Child };

const RANGES = { margin: MARGINS, size: SIZES };

function Measure({ language, field, style, form, errors, children }: MeasureProps) {
  return (
    <TextField
      name={field}
      label={message(language, `qr.${field}`)}
      hint={message(language, `qr.${field}.hint`)}
      errors={errors}
      input={{ type: "number", value: form[field] ?? style[field], required: true, ...RANGES[field] }}
    >
      {children}
    </TextField>
  );
}

interface JudgementProps {
  readonly language: string;
  readonly word: Word;
  readonly verdict: Verdict;
  /** With it, the colours can be swapped. */
  readonly style?: QrStyle;
}

/** A part of the verdict. The script fills and empties it: browsers without styles would show hidden words. */
function Judgement({ language, word, verdict, style }: JudgementProps) {
  const refuses = word === "low" || word === "inverted";
  const swap = message(language, "qr.swap");
  const link = style !== undefined && (
    <a href={`?${queryOf({ ...style, dark: style.light, light: style.dark })}`} data-swap>
      {swap}
    </a>
  );
  const key = `qr.word.${word}` as const;
  const values = { contrast: verdict.contrast, size: verdict.minSize, swap: link };
  return (
    <p
      class={refuses ? "error" : "hint"}
      {...{ "data-word": word, "data-text": message(language, key), "data-swap-text": swap }}
    >
      {verdict.words.includes(word) && richMessage(language, key, values)}
    </p>
  );
}
