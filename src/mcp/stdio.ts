import {
  deserializeMessage,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

import type { ClientOptions } from "../../client/client.ts";
import { createInstance } from "./instance-client.ts";
import { createTools } from "./tools.ts";

/** Per line, in UTF-16 units. Calls of our tools are far shorter. */
export const MAX_MESSAGE_LENGTH = 1024 * 1024;
/** The response to this one comes when the connection ends. */
const SUBSCRIPTION = "subscriptions/listen";

/** Resolves when the input ended and all requests have a response, or when nobody reads standard output any more. */
export async function serveTools(options: ClientOptions, input: AsyncIterable<string[]>): Promise<void> {
  const instance = createInstance(options);
  const ended = Promise.withResolvers<void>();
  process.stdout.once("error", () => ended.resolve());
  const connection = serveStdio(() => createTools({ instance, nowMs: Date.now }), {
    transport: createTransport(input, ended.resolve),
    onerror: (error) => console.error(`curt: ${error.message}`),
  });
  await ended.promise;
  await connection.close();
}

/** Unlike the SDK's, finishes requests in flight at the end of input, reports broken lines, and survives long ones. */
function createTransport(input: AsyncIterable<string[]>, onEnd: () => void): Transport {
  const unanswered = new Set<RequestId>();
  let isOver = false;

  function endIfAnswered(): void {
    if (isOver && unanswered.size === 0) onEnd();
  }

  async function receive(line: string): Promise<void> {
    let message: JSONRPCMessage;
    try {
      if (line.length >= MAX_MESSAGE_LENGTH) throw new SyntaxError("it is too long");
      message = deserializeMessage(line);
    } catch (error) {
      return write(`${JSON.stringify(explain(error))}\n`);
    }
    if (isJSONRPCRequest(message) && message.method !== SUBSCRIPTION) unanswered.add(message.id);
    // Cancelled requests get no response.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled")
      unanswered.delete(message.params?.["requestId"] as RequestId);
    transport.onmessage?.(message);
  }

  async function receiveAll(): Promise<void> {
    for await (const lines of input) for (const line of lines) await receive(line);
  }

  const transport: Transport = {
    async start() {
      void receiveAll()
        .catch((error: Error) => transport.onerror?.(error))
        .finally(() => {
          isOver = true;
          endIfAnswered();
        });
    },
    async send(message) {
      await write(serializeMessage(message));
      if (!("method" in message) && message.id !== undefined) unanswered.delete(message.id);
      endIfAnswered();
    },
    async close() {
      transport.onclose?.();
    },
  };
  return transport;
}

function explain(error: unknown) {
  const [code, message] =
    error instanceof SyntaxError
      ? [
          ProtocolErrorCode.ParseError,
          `The line is not JSON, or has ${MAX_MESSAGE_LENGTH} characters or more.`,
        ]
      : [ProtocolErrorCode.InvalidRequest, "The line is no JSON-RPC message."];
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}

function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
