/** Why the operator disables a link or blocks a host. */
export const REASONS = ["malware", "phishing", "spam", "illegal", "legal", "other"] as const;

export type Reason = (typeof REASONS)[number];

/** Why a link doesn't redirect although it has not ended: its own state, or a rule about its target. */
export type DisabledReason = Reason | "blocklist" | "deleted";

/** The maker withdrew the link, or `maxVisits` are used. */
export type EndedBy = "withdrawn" | "visits";
