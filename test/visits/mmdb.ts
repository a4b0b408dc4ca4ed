// Writes small databases in the MaxMind DB format, version 2.0, with records of 24 bits.
import { parseNetwork } from "../../src/lib/client-address.ts";

type Value = string | number | { readonly [key: string]: Value };
interface Node {
  children: [Child, Child];
}
type Child = Node | { readonly value: Value } | undefined;

/** The bytes of a database that returns `values[network]` for the addresses of each network. */
export function database(ipVersion: 4 | 6, values: Readonly<Record<string, Value>>): Uint8Array {
  const root: Node = { children: [undefined, undefined] };
  for (const [network, value] of Object.entries(values)) insert(root, bitsOf(network, ipVersion), value);
  const nodes: Node[] = [];
  number(root, nodes);
  const data: Buffer[] = [];
  const tree = Buffer.alloc(nodes.length * 6);
  let dataLength = 0;
  for (const [index, { children }] of nodes.entries()) {
    for (const [side, child] of children.entries()) {
      let record = nodes.length;
      if (child !== undefined && "children" in child) record = nodes.indexOf(child);
      else if (child !== undefined) {
        // Data starts 16 bytes behind the tree, and a pointer to it counts from the tree's end.
        record = nodes.length + 16 + dataLength;
        const bytes = encode(child.value);
        data.push(bytes);
        dataLength += bytes.length;
      }
      tree.writeUIntBE(record, index * 6 + side * 3, 3);
    }
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: "Country",
    ip_version: ipVersion,
    node_count: nodes.length,
    record_size: 24,
  });
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    ...data,
    Buffer.from("\xAB\xCD\xEFMaxMind.com", "latin1"),
    metadata,
  ]);
}

/** IPv4 lies in ::/96 of an IPv6 tree. */
function bitsOf(text: string, ipVersion: 4 | 6): number[] {
  const network = parseNetwork(text);
  if (network === undefined) throw new Error(`${text} is no network`);
  const bytes = network.address.toByteArray();
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1));
  const leading = ipVersion === 6 && bytes.length === 4 ? Array<number>(96).fill(0) : [];
  return [...leading, ...bits.slice(0, network.prefix)];
}

function insert(root: Node, bits: readonly number[], value: Value): void {
  let node = root;
  for (const [depth, bit] of bits.entries()) {
    const side = bit === 0 ? 0 : 1;
    if (depth === bits.length - 1) {
      node.children[side] = { value };
      return;
    }
    const child = node.children[side];
    const next: Node =
      child !== undefined && "children" in child ? child : { children: [undefined, undefined] };
    node.children[side] = next;
    node = next;
  }
}

function number(node: Node, nodes: Node[]): void {
  nodes.push(node);
  for (const child of node.children) if (child !== undefined && "children" in child) number(child, nodes);
}

const MAP = 7 << 5;
const TEXT = 2 << 5;
const UINT32 = 6 << 5;

function encode(value: Value): Buffer {
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    if (bytes.length > 28) throw new Error(`${value} is too long to be written in one byte of length`);
    return Buffer.concat([Buffer.of(TEXT | bytes.length), bytes]);
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([Buffer.of(UINT32 | 4), bytes]);
  }
  const entries = Object.entries(value);
  return Buffer.concat([
    Buffer.of(MAP | entries.length),
    ...entries.flatMap(([key, of]) => [encode(key), encode(of)]),
  ]);
}
