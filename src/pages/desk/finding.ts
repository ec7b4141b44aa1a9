/** One thing that a finding is about: an address, a range of blocks, a transaction and so on. */
export interface FindingItem {
  /** What the service says about the item, in English; empty if nothing. */
  readonly about: string
  /** What the page says about the item, in the reader's language; empty if nothing. */
  readonly note: string
  readonly since: string | null
  /** The search that leads to the story or the list of the item; null if there is none. */
  readonly ask: string | null
}

/** Something that needs a person, and what that person should do (`remedy`). */
export interface Finding {
  readonly kind: string
  readonly title: string
  readonly remedy: string
  readonly items: readonly FindingItem[]
}

/** A finding with the urgency of the alarm of its kind. */
export interface ShownFinding extends Finding {
  /**
   * How soon a person must act, in the service's word; empty if no alarm of this kind is raised.
   */
  readonly urgency: string
}
