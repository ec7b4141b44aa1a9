import type { approval, cancellation } from '../../payouts/decide.ts'
import * as schemas from '../../schemas/parts.ts'
import { payoutSchema } from '../../schemas/payout.ts'

/** The response to approving or cancelling: the payouts of the request, in the order of its ids. */
export const payoutList = (id: string) => schemas.listBody(id, payoutSchema, 'The number of payouts in the list.')

/** Describes the members that approvals and cancellations have in common. */
export function describeStepMembers({ ids, moved }: typeof approval.shape | typeof cancellation.shape): void {
  schemas.described(ids.def.element, 'A payout.')
  schemas.described(ids, 'The payouts. Each once.')
  schemas.described(moved, 'That it is known what has left for a payout: without it such a step is 409.')
}

/** The payout address in the examples. Its private key is public, so it must never be paid. */
export const payoutAddress = 'TXgoAQ1o6BJmtNbDmFu7QeatwATExE6xuw'
/** The address that the payouts of the examples pay. */
export const payoutTo = 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4'

/**
 * A signed transaction in hex, which pays the second payout of the examples and refers to the
 * newest final block of the examples.
 */
export const signedMessage =
  '0ad3010a021d9322089ab280cc3a38bbaa40f8ddafa38c345aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70' +
  '726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541ee38364a18edef188c9677a43bbad1883f9b72f01215' +
  '41a614f803b6fd780986a42c78ec9c7f77e6ded13c2244a9059cbb000000000000000000000000ab000000000000000000000000000000' +
  '0000003c00000000000000000000000000000000000000000000000000000000002625a070b8efc1a28c34900180c2d72f1241262d2618' +
  '21cd998d5ea969e8a89540ef4af8d4dcf0256731cb5955c06811a3ef348aeb52012389e226fae0be01448eb5c11589665f7da85a24cf56' +
  'f6cc8fb4f31b'
