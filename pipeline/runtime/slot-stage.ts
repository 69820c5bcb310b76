/**
 * A stage of a slot on its way through the service:
 * - `received`: its block meta and its status `confirmed` have both come;
 * - `sealed`: it is complete and has its place on the chain;
 * - `decoded`: its transactions are decoded;
 * - `appended`: the log has acknowledged it;
 * - `read`: the fold has read its marker in some partition;
 * - `folded`: the fold has written what follows from all that it has read;
 * - `stored`: the fold has stored it in all partitions of the process, or the API has seen that all
 *   of them are stored;
 * - `arrived`: the feed has read its marker in some partition;
 * - `merged`: the feed has read it from every partition of the log;
 * - `written`: its trades, if it has any, are written to the feed's sockets.
 */
export type SlotStage =
  | 'received'
  | 'sealed'
  | 'decoded'
  | 'appended'
  | 'read'
  | 'folded'
  | 'stored'
  | 'arrived'
  | 'merged'
  | 'written'

/**
 * Called synchronously when a slot reaches a stage, so it must be quick. `received` comes twice,
 * for the block meta and for `confirmed`; the later call counts. `read` and `arrived` come for each
 * partition; the first call counts. `folded` and `stored` cover all earlier slots, and `folded` may
 * come again. `merged` and `appended` come in either order.
 */
export type OnStage = (stage: SlotStage, slot: number) => void
