/** @jsxImportSource ../shared/html */
import { message } from "../../locales/messages.ts";
import { relativeTime } from "../../locales/relative-time.ts";
import { InlineQr } from "../qr/qr-code.tsx";
import { numberFormat } from "../shared/formats.ts";
import { ShortAddress, Ticket } from "../shared/ticket.tsx";

const DAYS = 30;
const VISITS = 128;

/** A link as it could be, for readers who have none. Its QR code leads to this service. */
export function Example({ language, baseUrl }: { language: string; baseUrl: string }) {
  const left = relativeTime(language).format(DAYS, "day");
  return (
    <div class="example" aria-hidden="true" inert>
      <p class="hint">{message(language, "home.example")}</p>
      <Ticket
        stub={
          <p class="address">
            <ShortAddress url={`${baseUrl}/${message(language, "home.example.code")}`} />
          </p>
        }
        picture={
          <div class="qr aside">
            <div class="picture">
              <InlineQr
                {...{ shortUrl: baseUrl, width: 96, label: "" }}
                style={{ margin: 4, dark: "000000", light: "ffffff", ecc: "l" }}
              />
            </div>
          </div>
        }
      >
        <p class="host">
          www.<strong>example.org</strong>
        </p>
        <p class="lifetime">
          <span>{message(language, "home.ends-in", { left })}</span>
          <span>
            {message(language, "preview.visits")} {numberFormat(language).format(VISITS)}
          </span>
        </p>
      </Ticket>
    </div>
  );
}
