/** The subject of a finding: an address, a range of blocks, a transaction. */
export interface FindingItem {
  /** The service's words. */
  readonly about: string
  /** The page's words. */
  readonly note: string
  readonly since: string | null
  /** The search that leads to its story. */
  readonly ask: string | null
}

/** A matter that needs a person, with the remedy. */
export interface Finding {
  readonly kind: string
  readonly title: string
  readonly remedy: string
  readonly items: readonly FindingItem[]
}

/** A finding as it is shown. */
export interface ShownFinding extends Finding {
  /** How soon a person must act, as the service says about an alarm of this kind; empty without an alarm. */
  readonly urgency: string
}
