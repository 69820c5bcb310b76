/**
 * How far a slot has come: the later of its block meta and `confirmed` was `received`; it was `sealed`, in its place on the chain; its transactions were
 * `decoded`; the log has acknowledged it (`appended`); the relay has it from every partition (`merged`); its trades were `written` to the sockets.
 */
export type SlotStage = 'received' | 'sealed' | 'decoded' | 'appended' | 'merged' | 'written'

/**
 * Told of a slot's stages at the moment they are reached, in the turn in which the work is done, so it must be quick. `received` is told of the block
 * meta and of `confirmed`, the later of which counts; `written` only of slots with trades, `merged` and `appended` in either order.
 */
export type OnStage = (stage: SlotStage, slot: number) => void
