/** What a finding is about: one address, one range of blocks, one transaction. */
export interface FindingItem {
  /** In the words of the service. */
  readonly about: string
  /** In the words of this page. */
  readonly note: string
  readonly since: string | null
  /** The question whose answer is its story. */
  readonly ask: string | null
}

/** Something that needs a person, with what to do. */
export interface Finding {
  readonly kind: string
  readonly title: string
  readonly remedy: string
  readonly items: readonly FindingItem[]
}

/** A finding as it is shown. */
export interface ShownFinding extends Finding {
  /** How soon a person must act, as the service says of the alarm of this kind; empty where none is raised. */
  readonly urgency: string
}
