/*
 * The types of answers that the declarations of `api/client` import from other rooms. There they
 * are inferred from schemas, which a customer does not install. The compiler writes the type of
 * each function here in full, and `build.sh` makes a type of it.
 */

import type { ParameterError as Fault, ProblemCode as Problem } from '../../api/errors.ts'
import type { AccountAnswer as Account } from '../../api/items/account.ts'
import type { HeldTokenItem as HeldToken } from '../../api/items/held-token.ts'
import type { HoldingItem as Holding } from '../../api/items/holding.ts'
import type { SignalItem as Signal } from '../../api/items/signal.ts'
import type { SwapItem as Swap } from '../../api/items/swap.ts'
import type { TokenItem as Token } from '../../api/items/token.ts'
import type { TradeItem as Trade } from '../../api/items/trade.ts'
import type { WalletMetricsItem as Metrics } from '../../api/items/wallet-metrics.ts'
import type { WalletPositionItem as Position } from '../../api/items/wallet-position.ts'
import type { WatchlistItem as Listed } from '../../api/items/watchlist.ts'
import type { HeldTokensAnswer as HeldTokens } from '../../api/resources/held-tokens.ts'
import type { HoldingsAnswer as Holdings } from '../../api/resources/holdings.ts'
import type { SolPriceAnswer as SolPrice } from '../../api/resources/prices-sol.ts'
import type { SearchAnswer as Search } from '../../api/resources/search.ts'
import type { StatusAnswer as Status } from '../../api/resources/status.ts'
import type { TokenSwapsAnswer as Swaps } from '../../api/resources/token-swaps.ts'
import type { TradesAnswer as Trades } from '../../api/resources/trades.ts'
import type { WalletAggregatesAnswer as Aggregates } from '../../api/resources/wallet-aggregates.ts'
import type { WalletHoldingsAnswer as WalletHoldings } from '../../api/resources/wallet-holdings.ts'
import type { ProfitAnswer as Profit } from '../../api/resources/wallet-pnl.ts'
import type { PositionsAnswer as Positions } from '../../api/resources/wallet-positions.ts'
import type { WalletsAnswer as Wallets } from '../../api/resources/wallets.ts'
import type {
  Channel as AnyChannel,
  MessageFault as MessageCode,
  CloseReason as Reason,
  ViewChannel as View,
} from '../../api/stream/messages.ts'

/** A value of a type, for the compiler alone. */
declare const of: <T>() => T
/** The same for one of several texts: the compiler then writes them, and not the type's name. */
declare const text: <T extends string>() => { [K in T]: K }[T]

const AccountAnswer = () => ({ ...of<Account>() })
const HeldTokenItem = () => ({ ...of<HeldToken>() })
const HeldTokensAnswer = () => ({ ...of<HeldTokens>() })
const HoldingItem = () => ({ ...of<Holding>() })
const HoldingsAnswer = () => ({ ...of<Holdings>() })
const ParameterError = () => ({ ...of<Fault>() })
const PositionsAnswer = () => ({ ...of<Positions>() })
const ProfitAnswer = () => ({ ...of<Profit>() })
const SearchAnswer = () => ({ ...of<Search>() })
const SignalItem = () => ({ ...of<Signal>() })
const SolPriceAnswer = () => ({ ...of<SolPrice>() })
const StatusAnswer = () => ({ ...of<Status>() })
const SwapItem = () => ({ ...of<Swap>() })
const TokenItem = () => ({ ...of<Token>() })
const TokenSwapsAnswer = () => ({ ...of<Swaps>() })
const TradeItem = () => ({ ...of<Trade>() })
const TradesAnswer = () => ({ ...of<Trades>() })
const WalletAggregatesAnswer = () => ({ ...of<Aggregates>() })
const WalletHoldingsAnswer = () => ({ ...of<WalletHoldings>() })
const WalletMetricsItem = () => ({ ...of<Metrics>() })
const WalletPositionItem = () => ({ ...of<Position>() })
const WalletsAnswer = () => ({ ...of<Wallets>() })
const WatchlistItem = () => ({ ...of<Listed>() })
const Channel = () => text<AnyChannel>()
const CloseReason = () => text<Reason>()
const MessageFault = () => text<MessageCode>()
const ProblemCode = () => text<Problem>()
const ViewChannel = () => text<View>()

export {
  AccountAnswer,
  Channel,
  CloseReason,
  HeldTokenItem,
  HeldTokensAnswer,
  HoldingItem,
  HoldingsAnswer,
  MessageFault,
  ParameterError,
  PositionsAnswer,
  ProblemCode,
  ProfitAnswer,
  SearchAnswer,
  SignalItem,
  SolPriceAnswer,
  StatusAnswer,
  SwapItem,
  TokenItem,
  TokenSwapsAnswer,
  TradeItem,
  TradesAnswer,
  ViewChannel,
  WalletAggregatesAnswer,
  WalletHoldingsAnswer,
  WalletMetricsItem,
  WalletPositionItem,
  WalletsAnswer,
  WatchlistItem,
}
