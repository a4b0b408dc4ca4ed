import type { Config } from "../config.ts";
import { servePlain } from "../http/plain.ts";
import type { Log } from "../log.ts";
import type { Https } from "../settings/https.ts";
import type { Challenges } from "./acme.ts";
import { type KeeperOptions, keepCertificate } from "./keeper.ts";

export interface StartedHttps {
  /** Undefined if there is no port for plain HTTP. */
  readonly httpPort: number | undefined;
  /** Resolves once there is a certificate. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts what only one process of several does: it leads http:// to https://, and gets the certificate if that is
 * automatic. Throws `CannotListen`.
 */
export function startHttps(
  { host, baseUrl, contact }: Config,
  { certFile, httpPort, own }: Https,
  log: Log,
  limits: Pick<KeeperOptions, "firstWaitMs" | "limitMs"> = {},
): StartedHttps {
  const challenges: Challenges = new Map();
  let isReady = own === null;
  const plain =
    httpPort === null
      ? undefined
      : servePlain({ host, port: httpPort, baseUrl, challenges, isReady: () => isReady });
  if (plain !== undefined) log.info(`http:// on port ${plain.port} leads to ${baseUrl}`);
  const keeper =
    own === null
      ? undefined
      : keepCertificate({
          own,
          certFile,
          contact: contact?.startsWith("mailto:") === true ? contact : null,
          challenges,
          nowMs: Date.now,
          onOrdered: (endsMs) => log.info({ hosts: own.hosts, ends: new Date(endsMs) }, "got a certificate"),
          onFailure(trouble, nextMs, stored) {
            const details = { hosts: own.hosts, trouble, next: new Date(nextMs) };
            if (stored !== undefined)
              log.warn(details, "could not renew the certificate: it is used until its end");
            else
              log.error(
                details,
                "could not get a certificate: mostly, port 80 of a host does not lead to HTTP_PORT of this machine",
              );
          },
          onPostponed: (nextMs) =>
            log.warn(
              { hosts: own.hosts, next: new Date(nextMs) },
              "the certificate authority is asked later, because of an earlier attempt: " +
                "to ask at once, delete attempts.json and restart Curt",
            ),
          ...limits,
        });
  const ready = keeper?.ready ?? Promise.resolve();
  return {
    httpPort: plain?.port,
    ready: ready.then(() => void (isReady = true)),
    async stop() {
      await keeper?.stop();
      await plain?.close();
    },
  };
}
