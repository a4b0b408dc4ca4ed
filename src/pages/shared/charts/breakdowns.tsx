/** @jsxImportSource ../html */
import { memoize } from "../../../lib/memoize.ts";
import { languageName, message } from "../../../locales/messages.ts";
import { type Dimension, DIMENSIONS } from "../../../visits/days/dimensions.ts";
import type { Statistics } from "../../../visits/statistics/statistics.ts";
import { numberFormat } from "../in-words.ts";
import { Fact } from "../link-facts.tsx";

/** Fewer visits are one line for each list. */
const FEW_VISITS = 10;
/** The others are one click away. */
const FIRST_VALUES = 8;

type BreakdownsProps = Pick<Statistics, "shown" | "breakdowns"> & { readonly language: string };

interface Row {
  readonly name: string;
  readonly visits: number;
  /** Unknown, or a sum of many values. */
  readonly isVague?: boolean;
}

export function Breakdowns({ language, shown, breakdowns }: BreakdownsProps) {
  const known = DIMENSIONS.filter((dimension) => breakdowns[dimension].values.length > 0);
  const [first] = known;
  if (first === undefined)
    return shown === "safe" ? <p class="hint">{message(language, "preview.few")}</p> : null;
  if (totalOf(breakdowns[first]) < FEW_VISITS)
    return (
      <dl class="few">
        {known.map((dimension) => (
          <Fact name={message(language, `preview.${dimension}`)}>
            {rowsOf(language, dimension, breakdowns[dimension]).map(({ name, visits }, nth) => [
              nth > 0 && "\u00a0· ",
              <bdi>{`${name}\u00a0${numberFormat(language).format(visits)}`}</bdi>,
            ])}
          </Fact>
        ))}
      </dl>
    );
  return (
    <>
      <div class="breakdowns">
        {known.map((dimension) => (
          <div class="tab">
            <label>
              <input
                {...{ type: "radio", id: `by-${dimension}`, name: "dimension", autocomplete: "off" }}
                checked={dimension === first}
              />
              <span>{message(language, `preview.${dimension}`)}</span>
            </label>
            <BreakdownTable language={language} dimension={dimension} {...breakdowns[dimension]} />
          </div>
        ))}
      </div>
      <p class="hint">{message(language, "preview.percent.of", { count: totalOf(breakdowns[first]) })}</p>
    </>
  );
}

type Breakdown = Statistics["breakdowns"][Dimension];
type BreakdownProps = Breakdown & { language: string; dimension: Dimension };

function BreakdownTable({ language, dimension, ...breakdown }: BreakdownProps) {
  const rows = rowsOf(language, dimension, { ...breakdown, other: 0 });
  const rest = rowsOf(language, dimension, { ...breakdown, values: [] });
  const [first, more] = [rows.slice(0, FIRST_VALUES), rows.slice(FIRST_VALUES)];
  const all = totalOf(breakdown);
  return (
    <div>
      <Values language={language} dimension={dimension} all={all} rows={[...first, ...rest]} />
      {more.length > 0 && (
        <details id={`more-${dimension}`}>
          <summary>{message(language, "preview.more", { count: more.length })}</summary>
          <Values language={language} dimension={dimension} all={all} rows={more} />
        </details>
      )}
    </div>
  );
}

/** The named values, then the sum of the others. */
function rowsOf(language: string, dimension: Dimension, { values, other }: Breakdown): Row[] {
  const rows = values.map(({ value, visits }) => ({
    name: nameOf(language, dimension, value),
    visits,
    isVague: value === null,
  }));
  if (other === 0) return rows;
  return [...rows, { name: message(language, "preview.other"), visits: other, isVague: true }];
}

interface ValuesProps {
  readonly language: string;
  readonly dimension: Dimension;
  /** The total behind the shares. */
  readonly all: number;
  readonly rows: readonly Row[];
}

function Values({ language, dimension, all, rows }: ValuesProps) {
  const number = numberFormat(language);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{message(language, `preview.${dimension}`)}</th>
          <th scope="col" class="number">
            {message(language, "preview.visits")}
          </th>
          <th scope="col" class="number">
            {message(language, "preview.percent")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, visits, isVague }) => (
          <tr class={isVague === true ? "vague" : undefined}>
            <th scope="row">
              {/* A host breaks after its dots. */}
              <bdi>{name.split(/(?<=\.)/).map((part, nth) => (nth === 0 ? part : [<wbr />, part]))}</bdi>
              <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect width={Math.round((visits / all) * 1000) / 10} height="1" />
              </svg>
            </th>
            <td class="number">{number.format(visits)}</td>
            <td class="number">{writeShare(language, visits / all)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Never says none for something, or all for less than all. */
function writeShare(language: string, share: number): string {
  const percent = percentFormat(language);
  if (share < 0.01) return `<${percent.format(0.01)}`;
  return share > 0.99 && share < 1 ? `>${percent.format(0.99)}` : percent.format(share);
}

function totalOf({ values, other }: Statistics["breakdowns"][Dimension]): number {
  return values.reduce((sum, { visits }) => sum + visits, other);
}

function nameOf(language: string, dimension: Dimension, value: string | null): string {
  if (value === null)
    return message(language, dimension === "referrers" ? "preview.direct" : "preview.unknown");
  switch (dimension) {
    case "countries":
      return regionNames(language)(value);
    case "languages":
      return languageName(value, language);
    case "devices":
      return message(language, `device.${value as "desktop"}`);
    case "referrers":
    case "browsers":
    case "operating_systems":
      return value;
  }
}

const regionNames = memoize((language) => {
  const names = new Intl.DisplayNames(language, { type: "region" });
  return memoize((region) => names.of(region) ?? region);
});
const percentFormat = memoize((language) => new Intl.NumberFormat(language, { style: "percent" }));
