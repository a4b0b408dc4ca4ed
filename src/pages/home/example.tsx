/** @jsxImportSource ../shared/html */
import type { Expiry } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { InlineQr } from "../qr/qr-code.tsx";
import { Chip } from "../shared/chip.tsx";
import { ShortAddress, Ticket } from "../shared/ticket.tsx";

interface ExampleProps {
  readonly language: string;
  readonly baseUrl: string;
  readonly defaultExpiry: Expiry;
}

/**
 * A link as it could be, until the script draws the one of the form. Its QR code leads to this service. Screen readers skip
 * it: the form says the same.
 */
export function Example({ language, baseUrl, defaultExpiry }: ExampleProps) {
  const code = message(language, "home.example.code");
  const isEndless = defaultExpiry === "never";
  const words = {
    "data-blank": message(language, "home.not-made"),
    "data-ends": message(language, "links.ends-at"),
    "data-never": message(language, "home.endless"),
    "data-password": message(language, "password.label"),
    "data-visits": message(language, "preview.max-visits"),
  };
  return (
    <div class="draft" aria-hidden="true" inert {...words}>
      <Ticket
        stub={
          <>
            <p>
              <Chip>{message(language, "home.example")}</Chip>
            </p>
            <p class="address">
              <ShortAddress url={`${baseUrl}/${code}`} />
            </p>
          </>
        }
        picture={
          <div class="qr aside">
            <div class="picture">
              <InlineQr
                {...{ shortUrl: baseUrl, width: 96, label: "" }}
                style={{ margin: 4, dark: "000000", light: "ffffff", ecc: "l" }}
              />
            </div>
            <svg class="finders" viewBox="0 0 25 25" width="96" height="96">
              <path d="M2 2h6v6H2zM4 4h2v2H4zM17 2h6v6h-6zM19 4h2v2h-2zM2 17h6v6H2zM4 19h2v2H4z" />
            </svg>
          </div>
        }
      >
        <p class="host">
          <bdi dir="ltr">
            <span>www.</span>
            <strong>example.org</strong>
          </bdi>
        </p>
        <p class="whole">
          <bdi dir="ltr">{`/2026/${code}`}</bdi>
        </p>
        <p class="chips">
          <Chip>{message(language, isEndless ? "home.endless" : `duration.${defaultExpiry}`)}</Chip>
        </p>
      </Ticket>
    </div>
  );
}
