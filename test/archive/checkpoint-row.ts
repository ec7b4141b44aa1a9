const origin = 'tron-wallet/TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const signature = '4ajecq+nJ8TeFuc7nQJ/PlknJIsIP0eX/9H/g+Ov+igUQ9UYmD3yc0azray19jqF0hgtQ40Mz5b02Ra+ZLJeTWon5gc='

/** A note that the key of `testSealKey` has signed, about a tree of two lines. */
const lines = [origin, '2', 'fCn0zYRKFJ60vm0K52sbZfjIdc2JixvtW3DuNNqDZpE=', '', `— ${origin} ${signature}`, '']
/** The key that verifies it. */
const verifier = `${origin}+e1a8de72+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4`

/** SQL that stores the row of an archive with this note. */
export const checkpointRow = `
INSERT INTO archive (id, epoch, lines, hash, tree, event, change, begun, checkpoint, verifier, written_at)
VALUES (1, 1, 2, '${'0'.repeat(64)}', '[]', 0, 0, 0, '${lines.join('\n')}', '${verifier}', 0)`
