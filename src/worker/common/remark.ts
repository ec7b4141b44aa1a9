// Remarks: short texts for people, which backends and people write.

/** Longest `mark` of an entry, and longest reason for a decision about a deposit, in characters. */
export const remarkCharsMax = 200

/**
 * Characters with which a remark could look like another one on a page: control characters, line
 * ends and invisible characters, among them those that turn the direction of text. Allowed are the
 * two joiners (U+200C, U+200D), which some scripts need, and the variation selectors of emoji.
 */
const unfitForRemark = /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\ufe00-\ufe0f]]/v
/**
 * Whether a text may be stored as a remark: at most `remarkCharsMax` characters, none of them a
 * control character or an invisible one. It may be empty.
 */
export const isRemark = (text: string) =>
  text.isWellFormed() && !unfitForRemark.test(text) && [...text].length <= remarkCharsMax

/**
 * Letters, digits, punctuation and symbols, except those that are blank: the Braille blank, the
 * Hangul fillers, a musical and two Egyptian placeholders.
 */
const readable = /[[\p{L}\p{N}\p{P}\p{S}]--[\u115f\u1160\u2800\u3164\uffa0\u{13441}\u{13442}\u{1d159}]]/v
/**
 * Whether a text has something that can be read. Spaces, blank characters and combining marks alone
 * are nothing.
 */
export const isReadable = (text: string) => readable.test(text)
/** Whether a text may be stored as the reason for an action: a remark that can be read. */
export const isReadableRemark = (text: string) => isRemark(text) && isReadable(text)
