/**
 * Names who helps if the page cannot, because the page knows no name or address of whoever runs the
 * service.
 */
const support = 'the support of the site or app that gave you this page'

/**
 * The texts of the deposit page, in English. Their structure is that of every language: a text that
 * another language lacks is a type error.
 */
export const en = {
  tag: 'en',
  stop: '.',
  comma: ', ',
  gap: ' ',

  title: 'Deposit',
  titlePay: (amount: string) => `Pay ${amount}`,
  titleWith: (state: string, amount: string) => `${state}: ${amount}`,
  account: 'Account',
  user: (uid: string) => `User ${uid}`,
  order: 'Order',

  nameTron: 'TRON',
  nameNile: 'Nile test network',
  nameLocal: 'Local test chain',
  network: 'Network',
  tokenOn: (network: string) => `${network} (TRC-20)`,
  onlyHere: (symbol: string) => `Only ${symbol}, only on this network. Anything else is lost.`,
  onlyTest: (symbol: string) => `Only worthless test ${symbol}. Real money would be lost.`,
  choose: 'What you send',
  closedNow: 'closed now',
  send: (symbol: string) => `Send ${symbol}`,
  sendAmount: (amount: string) => `Send ${amount}`,
  sendMore: (amount: string) => `Send ${amount} more`,
  anyAmount: 'Any amount',
  atLeast: (amount: string) => `At least ${amount}`,
  exactly: 'Exactly this must arrive, after all fees',
  copyAmount: 'Copy the amount',
  address: 'Address',
  qrOf: (address: string) => `QR code of the address ${address}`,
  copyAddress: 'Copy the address',
  copy: 'Copy',
  copied: 'Copied',
  selected: 'Selected: now copy it',
  openWallet: (wallet: string) => `Open ${wallet}`,
  compare: 'After pasting, compare the first and the last characters.',
  waiting: 'Waiting for your payment: it shows here by itself.',
  payBy: (time: string) => `: pay by ${time}`,
  payWithin: (left: string) => `: pay within ${left}`,

  closed: (symbol: string) => `${symbol} is closed at the moment`,
  closedHelp: 'Please do not send it now. It opens here by itself as soon as deposits are credited again.',
  allClosed: 'Deposits are closed at the moment',
  allClosedHelp: 'Please do not send anything now. They open here by themselves. What you have sent before is safe.',

  late: (time: string) => `The network’s answers are about ${time} late.`,
  lateHelp: 'What you have sent is safe: it is credited by itself, only later than usual.',
  seconds: (count: string) => `${count} s`,
  minutes: (count: string) => `${count} min`,
  hours: (count: string) => `${count} h`,

  offline: 'No connection to the service',
  slow: 'The service takes too long to answer',
  limited: 'The page is busy: too many requests for now',
  unavailable: 'The service cannot answer right now',
  broken: 'The answer of the service could not be read',
  refusedRequest: 'The service has refused the request',
  retriesIn: (seconds: string) => `Tries again by itself in ${seconds} s.`,
  retriesNow: 'Trying again now.',
  safe: 'What you have sent as described here is safe: it is credited even when this page is closed.',
  notYet: 'Do not send anything yet',
  notYetHelp: 'Your address could not be loaded. It appears here by itself as soon as the service answers.',
  ended: 'Your session has ended, or you are not signed in',
  endedHelp:
    'Go back to the site or app that gave you this page, sign in there if it asks for that, and open this page from there again.',
  endedHere: 'For developers, on this machine: set DEV_UID in .dev.vars, or open this page with #token= and a token.',
  unconfigured: 'Deposits are not set up here yet',
  unconfiguredHelp: `Please do not send anything. Whoever runs this page has to complete its settings; until then nothing can be shown. What was sent before is safe. Questions go to ${support}.`,

  unreadable: 'This order cannot be read',
  unreadableHelp:
    'Please do not send anything. Go back to the site or app that gave you this page, and tell them: their order has a mistake.',
  unknownOrder: 'This order is not known here',
  unknownOrderHelp:
    'Please do not send anything. Go back to the site or app that gave you this page, and open this page from there again.',

  stepSeen: 'Found',
  stepFinal: 'Final',
  stepFinalIn: (seconds: string) => `Final in ${seconds} s`,
  stepCredited: 'Credited',
  seen: 'On its way',
  held: 'Arrived, not credited yet',
  credited: 'Credited',
  refused: 'Not credited',
  dropped: 'Not confirmed: please wait',
  uncertain: (symbol: string) => `${symbol}, amount not certain yet`,
  finalIn: (seconds: string) => `Found on the network. Final in ${seconds} s, then it is credited.`,
  finalNow: 'Found on the network. Becoming final now …',
  finalLate: 'Found on the network, whose answers are late just now. It is credited by itself once it is final.',
  creditedHelp: 'It is in your balance.',
  droppedHelp:
    'Your money is not lost: the network has undone this transfer for now. It usually carries it out again within a minute, and it shows here. If not, the money is still where you sent it from: look there before you send again.',
  mayClose: 'You may close this page: your deposit does not need it.',
  foundAt: (time: string) => `Found ${time}`,
  transaction: 'Transaction',
  copyTransaction: 'Copy the transaction number',
  viewTransaction: (explorer: string) => `View the transaction on ${explorer}`,
  viewAddress: (explorer: string) => `View the address on ${explorer}`,
  another: 'Make another deposit',
  backTo: (site: string) => `Back to ${site}`,

  paid: 'Paid',
  paidHelp: (amount: string) => `${amount} has arrived and is credited.`,
  paidShort: (amount: string, asked: string) => `${amount} of ${asked} has arrived and is credited. That is enough.`,
  paidOver: (amount: string) => `${amount} more than asked has arrived. It is in your balance.`,
  coming: (amount: string) => `${amount} is on its way`,
  comingHelp: 'Nothing is missing. As soon as it is final, it is paid.',
  heldOrderHelp: 'Nothing is missing: please wait.',
  missing: (amount: string) => `${amount} is missing`,
  sums: (asked: string, parts: string) => `Of ${asked}: ${parts}.`,
  partCredited: (amount: string) => `${amount} credited`,
  partSeen: (amount: string) => `${amount} on its way`,
  partHeld: (amount: string) => `${amount} not credited yet`,
  partMissing: (amount: string) => `${amount} missing`,
  endedOrder: 'This order has expired',
  cancelledOrder: 'This order is cancelled',
  endedOrderHelp:
    'Please do not send anything now. If you have sent something already, it is safe. Go back to the site or app that gave you this page.',
  counted: 'It counts for this order.',
  inBalance: (amount: string) => `${amount} is in your balance.`,
  notCounted: (symbol: string) => `It does not count for this order, which asks for ${symbol}.`,

  howHeading: 'How to pay',
  howFrom: (symbols: string) =>
    `Pay from a crypto wallet app or from an account at an exchange that holds ${symbols}. Cards and bank transfers do not work here.`,
  or: ' or ',
  howNetwork: (network: string) =>
    `In the wallet or exchange choose the network ${network}. A wallet app needs some TRX for the network’s fee.`,
  asTron: 'TRON (for tokens: TRC-20)',
  howAmount:
    'What counts is what arrives: fees that your wallet or exchange takes off come first. Less than the minimum is not credited.',
  howLost: 'Other tokens, or the same one on another network such as Ethereum or BNB Chain, cannot be brought back.',
  howStages:
    'It is found some seconds after your wallet has sent it, final about a minute later, and then credited at once.',
  howKeep: 'The address stays yours: you can use it again.',

  questionHeading: 'I paid, but nothing shows',
  questionHelp:
    'Paste the transaction number (also called txid or hash). Your wallet or exchange shows it with the payment that you sent.',
  checkNow: 'Check for new payments',
  checking: 'Checking …',
  checked: 'Checked just now. What was found shows above.',
  txid: 'Transaction number',
  ask: 'Look it up',
  asking: 'Looking …',
  serviceSays: 'The service says:',
  notTxid: 'That is no transaction number',
  notTxidHelp: 'It has 64 characters, each a digit or a letter from a to f. An address, which begins with T, is none.',
  askUnknown: 'The network does not know this transaction',
  askUnknownHelp:
    'Look at it in your wallet or exchange. Where it is still pending or failed, the money has not left. Where it is sent: was it sent on the network that this page names? A new one needs a moment: try again in a minute.',
  askNotFinal: (seconds: string) =>
    `It is found on the network, and final in about ${seconds} s. If it pays your address, it is then credited by itself.`,
  askLate:
    'It is found on the network, whose answers are late just now. If it pays your address, it is credited by itself once it is final.',
  askUndecided: 'It is found, but cannot be decided yet',
  askUndecidedHelp: `Nothing is lost by waiting: it is looked at again by itself. If this stays, please send the transaction number to ${support}.`,
  askWorthless: `It is final, but it brought nothing to your account. If you think that this is wrong, please send the transaction number to ${support}.`,
  askLater: (seconds: string) =>
    `It could not be looked up. Please try again in ${seconds} s. What you have sent is credited without asking.`,

  heldUnclear:
    'Your money is safe. It is credited by itself when the network has answered about this token. You need to do nothing.',
  heldOperator: `Your money has arrived and is safe. A person has to look at it first: please send the transaction number to ${support}.`,
  heldReview:
    'Your money has arrived and is safe. It is being looked at before it is credited, as every amount of this size is. You need to do nothing.',
  heldRetired: `Your money has arrived and is safe, but this currency is not accepted at the moment. Please contact ${support}.`,
  heldFull:
    'Your money has arrived and is safe. Your balance cannot hold more now; it is credited by itself when there is room.',
  belowMinimum: `It has arrived and is recorded, but it is below the minimum, so it is not added to your balance. More small amounts do not change that. Please send the transaction number to ${support}: they decide about it.`,
  dust: 'It has arrived and is recorded, but it is smaller than the smallest amount that is counted, so it is not added to your balance. You need to do nothing.',
  reviewRefused: `It has arrived and is recorded. It was looked at, and is not credited. Please send the transaction number to ${support}.`,
  failed: 'The transfer failed: nothing has arrived',
  failedHelp:
    'The network did not carry it out, so the money has not left your wallet; at most a fee was charged. If you sent it from an exchange, ask there. From a wallet you can send it again: make sure that it has some TRX for the fee.',
  elsewhere: 'It was not sent to your address',
  elsewhereHelp:
    'This transaction does not pay your address, so nothing has arrived here. Look in your wallet: is it the right transaction, and is your address above its recipient? What went to another address belongs to the owner of that address, who alone can send it back.',
  foreign: 'What was sent is not accepted here',
  foreignHelp: `It is at your address, but it is something else than the currencies above, perhaps a token with the same name. So it is not in your balance. Send no more of it, and send the transaction number to ${support}: they can say whether you get it back.`,
  nothingSent: 'It moved no money to you',
  nothingSentHelp: `This transaction is something else than a payment, or its amount is zero, so nothing is credited. If you think that this is wrong, please send the transaction number to ${support}.`,
  internal: 'It is not a deposit',
  internalHelp: `It was sent from within this service, and not from a wallet or an exchange, so it is not credited as a deposit. If you think that this is wrong, please send the transaction number to ${support}.`,
  early: 'It is older than your address',
  earlyHelp: `It was paid to this address before the address became yours, so it is not credited by itself. Please send the transaction number to ${support}.`,

  receipt: 'Receipt',
  asked: 'Asked for',
  printedAt: (time: string) => `Printed ${time}`,

  arrivalsHeading: 'Earlier deposits',
  older: 'Show older',
  shownOf: (shown: string, all: string) => `${shown} of ${all}`,

  walletHeading: 'Balance and history',
  balancesHeading: 'Balance',
  historyHeading: 'History',
  historyEmpty: 'No entries yet',
  historyEmptyHelp: 'Your first deposit shows here when it is credited.',
  filter: 'Currency',
  all: 'All',
  entry: 'Entry',
  amount: 'Amount',
  amountAndBalance: 'Amount and balance',
  balance: 'Balance',
  balanceAfter: (amount: string) => `Balance ${amount}`,
  time: 'Time',
  reference: 'Reference',
  remark: 'Remark',
  type1: 'Deposit',
  type2: 'Withdrawal',
  payoutWaiting: 'Waits for approval',
  payoutApproved: 'Will be sent soon',
  payoutSigned: 'On its way',
  payoutPaid: 'Paid',
  payoutStuck: 'Late: a person must decide about it',
  payoutCancelled: 'Cancelled: the amount is in your balance again',
  type3: 'Transfer',
  type4: 'Payment',
  type5: 'Refund',
  type9: 'Adjustment',
  typeOther: 'Entry',
  creditedAt: (time: string) => `Credited ${time}`,
  download: 'Download as CSV',
  downloading: (done: string, all: string) => `Reading ${done} of ${all} …`,
  balanceOf: (symbol: string) => `Balance in ${symbol}`,
  balanceSummary: (symbol: string, first: string, last: string) =>
    `Line chart of the balance in ${symbol}, from ${first} to ${last}`,
  statement: 'Statement',
  statementOf: (owner: string, month: string) => `Statement of ${owner}, ${month} (UTC)`,
  month: 'Month',
  show: 'Show',
  monthRuns: (time: string) => `The month is running: until ${time} UTC.`,
  opening: 'Opening balance',
  closing: 'Closing balance',
  print: 'Print',
  numbersAsTable: 'The numbers as a table',
} as const

export type Texts = {
  readonly [Name in keyof typeof en]: (typeof en)[Name] extends string ? string : (typeof en)[Name]
}
