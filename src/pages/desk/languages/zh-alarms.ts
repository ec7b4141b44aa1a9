import type { AlarmKind } from '../../../worker/platform/alarm-table.ts'

/** A translation of the sentences in the service's table of alarms. */
export type AlarmTexts = Readonly<Record<AlarmKind, readonly [raised: string, remedy: string]>>

/** The sentences of the table of alarms in Chinese. A kind that is missing here is a type error. */
export const zhAlarms: AlarmTexts = {
  'scan-stalled': [
    '扫描已有三分钟未启动、在最终区块以下停滞，或得不到答复。',
    '没有丢失：扫描恢复后，已到账的会入账。日志行中有原因：节点不应答、不一致或落后（请在 `TRON_NODES` 中更换并重新部署），或请求额度已用完（请升级套餐、调整 `perDay` 并重新部署）。',
  ],
  'scan-behind': [
    '扫描虽在推进，但已有十分钟在每次扫描结束时落后最新最终区块两分钟以上。',
    '没有丢失：扫描赶上后，已到账的会入账。故障恢复后会自行赶上；否则是节点太慢、允许的请求太少，或只能逐块给出区块：日志行有原因。请在 `TRON_NODES` 中增加或更换节点，或升级套餐并设置 `perSecond` 和 `perDay`，然后重新部署。',
  ],
  'finality-stalled': [
    '正常应答的节点已有三分钟没有新的最终区块。',
    '充值会等待，不会丢失。请与区块浏览器对照：是全网停止，还是所有节点停止。',
  ],
  'chain-forked': [
    '有一个最终区块与已存储的区块不相接，此后不再入账。',
    '请先检查链和节点，然后更正扫描位置：`npm run operate -- correct --finalized <block> --reason "…" --production`。',
  ],
  'tick-failed': ['连续两次扫描因异常结束，异常见日志行。', '下次会自动重试。如果持续，请检查数据库和该异常。'],
  'gap-unread': [
    '有区块无法读取或节点对其不一致，已跳过，并以越来越长的间隔重读；或已签名的链上提现所需的区块一刻钟内仍未重读。',
    '系统会自动重读，读到后即入账。如果持续数分钟，请在 `TRON_NODES` 中增加或更换节点并重新部署；若节点不一致，`nodes-disagree` 的日志行有各自的答复，区块浏览器可看出哪个正确。若原因指出某笔交易，只有它在等待：请按交易号查询。若原因是没有剩余请求，请提高节点的额度或增加节点。最后的办法是 `npm run operate -- gap close --from <block> --reason "…" --production`：其余部分不再读取，其中的充值只有在所有者按交易号查询时才会入账。',
  ],
  'transaction-unreadable': [
    '节点一致认可的一笔交易，本服务无法解析；同一区块的其余交易已入账。',
    '请用区块浏览器查看该交易。如果它付给了用户，请由后端记一笔调整（`POST /ledger/entries`，类型 9）。',
  ],
  'nodes-disagree': [
    '节点对某个最终区块或代币的小数位数不一致，不一致的部分不入账。',
    '系统会自动再次询问。如果持续数分钟，请更换出错的节点：日志行有各节点在 `TRON_NODES` 中的序号及其答复。',
  ],
  'node-lies': [
    '有节点自相矛盾、时钟不符，或属于其他网络，其答复不被采用。',
    '日志行有该节点在 `TRON_NODES` 中的序号和原因。请检查其网址，或更换节点。',
  ],
  'node-unfit': [
    '有节点无法使用：没有交易历史、没有区块日志、不支持 `finalized`，是轻节点，拒绝密钥，或关闭了扫描所需的接口。',
    '日志行指出是哪个节点、缺少什么；`npm run doctor -- --production` 会说明如何处理。请修复它，或在 `TRON_NODES` 中换一个，然后重新部署。',
  ],
  'node-behind': [
    '某个节点三分钟没有最终区块，或其最终区块比其他节点落后一分钟以上，或比时钟落后两分钟以上。日志行指出是哪个节点，以及它是否没有对等节点。',
    '若持续，请检查该节点的对等节点、磁盘空间和时间，或在 `TRON_NODES` 中更换。若日志行说它没有对等节点，请让它重新连入网络：对等端口、种子节点、防火墙。没有丢失：剩余节点不足以达成一致时，充值会等待。',
  ],
  'node-failing': [
    '某个节点三分钟来对服务所问的某一项（`heads`、`blocks`、`logs`、`receipts` 或 `broadcasting`）至少每两次应答就失败一次。没有给出数据的应答也算失败。',
    '日志行指出是哪个节点、哪一项、状态及原因；`npm run doctor -- --production` 会说明如何处理。若持续，请向其服务商确认，或在 `TRON_NODES` 中更换并重新部署。没有丢失：剩余节点不足以达成一致时，充值会等待。',
  ],
  'allowance-used-up': [
    '节点每日允许的请求已用完。日志行指出是哪个节点、到何时为止。',
    '请按节点的实际限额设置 `perDay` 和 `perSecond`，升级套餐，或降低扫描频率。',
  ],
  'decimals-differ': [
    '`CURRENCIES` 中某币种的小数位数与合约不同，该币种一律不入账。',
    '没有丢失：已到账的被搁置，其金额不确定。`npm run doctor -- --production` 显示两边的位数，区块浏览器可看出哪边正确。若 `CURRENCIES` 正确，请等待：合约显示一致后即入账。若合约正确：（1）更正 `CURRENCIES` 中的 `decimals`；（2）运行 `npm run operate -- currency --cuy <n> --production`，它会指出还需设置什么；（3）随即重新部署。随后搁置的充值会按正确金额自动入账：请勿手工记账。',
  ],
  'deposit-too-large': [
    '有一笔充值会使钱包超出上限（2^53−1 个最小单位），已搁置。',
    '请与用户商定。按交易号查询可看到原因。',
  ],
  'review-overdue': [
    '有一笔被 `reviewFrom` 搁置的充值等待决定已超过一小时。',
    '日志行有其中最早的一笔。请在工作台作出决定，或由后端决定（`POST /ledger/deposits/decide`）：在此之前不会入账。',
  ],
  'corrected-credit': [
    '更正之后，或按您的要求重新读取区块时，有一笔已入账的充值没有再次找到，或链上显示的与已存的入账或自有地址之间的转移不同。已存的内容保持不变。',
    '日志行有已存的内容和区块显示的内容。请将两者与链上对照，并由后端把差额记为调整（`POST /ledger/entries`，类型 9）：从已入账的用户扣除，记给链上付款的用户。',
  ],
  'paid-before-issue': [
    '有用户查询的付款在地址分配给他之前就已最终确认。',
    '该付款属于当时拥有此地址的人，请与双方商定。',
  ],
  'address-frozen': [
    '代币发行方冻结了本服务分配的某个地址，或提现地址。',
    '该地址上的此种代币无法归集，发行方还可以将其销毁；用户的入账不变。请决定该用户能否继续使用余额：如需锁定，请由后端记一笔调整（`POST /ledger/entries`，类型 9），日后再记回。请凭日志行中的交易号向发行方询问原因。新的充值仍会到达该地址，同样被冻结：请为用户分配新地址（`fresh=1`）。',
  ],
  'token-paused': [
    '发行方暂停了某种代币，任何人都无法转账。',
    '没有丢失。恢复后充值会继续到账；在此之前请勿归集或付出该代币。',
  ],
  'token-fee-set': [
    '发行方对某种代币的每笔转账收取手续费，尚未经运营方确认。',
    '充值按实际到账金额入账。付款和归集的到账金额会少掉手续费。请决定由谁承担，然后确认：`npm run operate -- fee confirm --txid <交易号> --reason "…" --production`，交易号见日志行。手续费再次变更后需重新确认；更正撤回了其区块的手续费也需重新确认。在您确认之前已上链的付款会显示为 `stuck`，但实际已付出：既不要重新批准，也不要取消，而应重读其区块（`npm run operate -- rescan --from <高度> --to <高度> --reason "…" --production`），之后即为 `paid`。',
  ],
  'token-deprecated': [
    '发行方更换了某种代币的合约，转账由新合约显示，因此看不到该币种的充值。',
    '日志行有新合约。请向发行方核实，停用该币种（`retired: true`），并把新合约以新的 `cuy` 加入 `CURRENCIES`，重新部署，并重读日志行所示高度以来的区块：`npm run operate -- rescan --from <block> --to <block> --reason "…" --production`，其间用户转入的资金随即入账。',
  ],
  'reconciliation-shortfall': [
    '有地址的余额少于记录，三次读取得到相同的差额。',
    '请查找未记录的转出；它可能在缺口之中。如果没有，请查明谁持有私钥。',
  ],
  'reconciliation-surplus': [
    '有地址的余额多于记录，三次读取得到相同的差额。',
    '资金没有丢失。通常是合约转入的 TRX：请用区块浏览器在该地址的内部交易中找到交易号，让其用户按交易号查询（`GET /tron/recharge?txid=…`），只要有足够的节点显示，即可入账；也可能是首个扫描区块之前的付款。若在缺口之中，读取后会自动入账，请勿记账。',
  ],
  'payout-stuck': [
    '一笔提现的交易已最终确认但失败或付了别的，或三笔交易均已过期：款项已扣，未付出。',
    '请查看该提现（`GET /ledger/payouts?state=stuck`）：`reason` 说明是哪一种，`moved` 说明从地址转出了什么。排除原因（能量、手续费用的 TRX、签名程序）后，重新批准或取消。若 `moved` 不为空，则已有资金转出：请先决定由谁承担。',
  ],
  'payout-refused': [
    '一笔已签名的出款发送已满一分钟，没有节点接受；或节点称已接受，但没有任何最终区块包含它。',
    '日志行里有各节点的答复，以及哪些节点没有答复（出款的 `answers` 里也有）。缺能量或手续费用的 TRX：给出款地址补足。签名或参考区块有问题：检查签名程序和该地址的权限。各节点都答 `SUCCESS`：检查它们与其他节点的连接。在过期前会继续发送，过期后会重新签名。',
  ],
  'payouts-unsigned': [
    '有已批准的提现超过十分钟未签名。',
    '请检查签名程序是否在运行及其输出。提现停止期间，不会向它提供任何提现（见 `/ledger/summary` 的 `payouts`）。',
  ],
  'payout-unknown': [
    '有一笔最终交易从提现地址转出了资金或由其发出，却不属于任何提现；或数据库被恢复为较早的副本。此后不再向签名程序提供提现。',
    '请用区块浏览器查看该交易，并查看签名程序的日志：启动它，已签名的会重新提交。若缺少某笔已签名的提现，请由后端以相同的 `uid`、`cuy`、`osn` 再次申请。若不是你方签名，则私钥已落入他人之手：请转移该地址的资金。否则执行 `npm run operate -- payouts resume --txid <交易号> --reason "…" --production`。',
  ],
  'payout-wallet-low': ['提现地址余额不足。', '请转入不足的部分；期间不会丢失，但已签名的交易可能失败。'],
  'configuration-differs': [
    '链 ID、密钥或币种与已存储的数据不同，或数据库缺少本版本的迁移；服务停止且不入账。',
    '日志行指出是哪项设置及两边的值。请改回，或使用正确的数据库。若为 `migrations`，请运行 `npm run db:migrate -- --production`。若某币种的小数位数原来有误、现已更正，请运行 `npm run operate -- currency --cuy <n> --production`。',
  ],
  'key-was-used': [
    '数据库为空，但该密钥的前几个地址有过资产。不再分配地址。',
    '请恢复旧数据库，或把 `TRON_FIRST_INDEX` 设为大于所有用过的序号。',
  ],
  misconfigured: ['有设置缺失或错误，服务停止。', '日志行指出是哪项设置以及它的取值要求。'],
  'database-filling': [
    '数据库已达到 D1 单个数据库容量的 70%。',
    '没有任何损失，速度也不受影响。工作台显示按目前增速写满的日期。请降低 `EVENTS_KEEP_DAYS`，或为新用户增加一个数据库（`CELLS`）。',
  ],
  'database-nearly-full': [
    '数据库已达到 D1 单个数据库容量的 90%。',
    '请立即处理：数据库写满后不再入账，也不再分配地址；有空间后会从停下的地方继续。请降低 `EVENTS_KEEP_DAYS`：随后会自动删除较早的事件。',
  ],
  'endpoint-failing': [
    '`WEBHOOKS` 中有接收端已失败一小时。',
    '充值照常入账。事件按顺序等待，并会自动重发。起始时间和原因见 `npm run operate -- webhooks status --production`。',
  ],
  'endpoint-behind': ['某接收端尚缺的最早事件已超过十分钟。', '请让接收端更快应答：它逐个接收事件。'],
  'events-expiring': [
    '某接收端尚缺的事件即将按 `EVENTS_KEEP_DAYS` 删除。',
    '请修复接收端，增大 `EVENTS_KEEP_DAYS`，或从事件列表读取。',
  ],
  'event-set-aside': [
    '某接收端三天来一直拒收一个事件，该事件已搁置，后续事件继续。',
    '请从事件列表读取，或重新发送：`npm run operate -- webhooks replay --endpoint <n> --from <id> --production`。',
  ],
  'archive-behind': [
    '十分钟来一直无法写入归档。',
    '其他一切照常进行；恢复后会从停下的地方继续写入。原因见日志行：请检查存储桶、其绑定和写入权限。如果日志行说缺少某一行，或某一段与此归档不衔接，说明有人改动过数据库或存储桶：请先查明改动了什么。',
  ],
}
