/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { memoize } from "../memoize.ts";
import type { Dimension } from "../visits/dimensions.ts";
import type { Statistics } from "../visits/statistics.ts";
import { numberFormat } from "./chart.tsx";

/** The dimensions shown; the API has them all. */
const SHOWN = ["referrers", "countries", "browsers", "devices"] as const satisfies Dimension[];
/** Values shown at once; the others are a click away. */
const FIRST_VALUES = 8;

interface BreakdownsProps extends Pick<Statistics, "breakdowns"> {
  readonly language: string;
}

/** Visits by where they came from and with what. */
export function Breakdowns({ language, breakdowns }: BreakdownsProps) {
  const known = SHOWN.filter((dimension) => breakdowns[dimension].values.length > 0);
  if (known.length === 0) return <p class="hint">{message(language, "preview.few")}</p>;
  return (
    <div class="breakdowns">
      {known.map((dimension) => (
        <Breakdown language={language} dimension={dimension} {...breakdowns[dimension]} />
      ))}
    </div>
  );
}

type BreakdownProps = Statistics["breakdowns"][Dimension] & {
  language: string;
  dimension: (typeof SHOWN)[number];
};

/** Values that are hidden to protect visitors are one row, apart from those that are folded away to save room. */
function Breakdown({ language, dimension, values, other }: BreakdownProps) {
  const rows = values.map(({ value, visits }) => ({ name: nameOf(language, dimension, value), visits }));
  const [first, more] = [rows.slice(0, FIRST_VALUES), rows.slice(FIRST_VALUES)];
  const hidden = { name: message(language, "preview.other"), visits: other };
  return (
    <div>
      <Values language={language} dimension={dimension} rows={other > 0 ? [...first, hidden] : first} />
      {more.length > 0 && (
        <details id={`more-${dimension}`}>
          <summary>{message(language, "preview.more", { count: more.length })}</summary>
          <Values language={language} dimension={dimension} rows={more} />
        </details>
      )}
    </div>
  );
}

interface ValuesProps {
  readonly language: string;
  readonly dimension: (typeof SHOWN)[number];
  readonly rows: readonly { readonly name: string; readonly visits: number }[];
}

function Values({ language, dimension, rows }: ValuesProps) {
  const number = numberFormat(language);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{message(language, `preview.${dimension}`)}</th>
          <th scope="col" class="number">
            {message(language, "preview.visits")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, visits }) => (
          <tr>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td class="number">{number.format(visits)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nameOf(language: string, dimension: (typeof SHOWN)[number], value: string | null): string {
  if (value === null)
    return message(language, dimension === "referrers" ? "preview.direct" : "preview.unknown");
  switch (dimension) {
    case "countries":
      return regionNames(language)(value);
    case "devices":
      return message(language, `device.${value as "desktop"}`);
    case "referrers":
    case "browsers":
      return value;
  }
}

const regionNames = memoize((language) => {
  const names = new Intl.DisplayNames(language, { type: "region" });
  return memoize((region) => names.of(region) ?? region);
});
