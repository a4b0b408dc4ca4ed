// bun bench/slow-syncs.ts <ms> <command…>
//
// Runs a command and delays each fsync and fdatasync of all its threads by <ms>, as on a slow disk.
import { trace } from "../test/endurance/durability/ptrace.ts";

const [delay = "", ...command] = process.argv.slice(2);
process.exit(await trace(command, ["fsync", "fdatasync"], () => ({ delayMs: Number(delay) })));
