import test from 'ava'
import { DeliveryOrder } from './delivery-order.ts'

/** The order of messages that are named by what they are. */
function orderOf(...delivered: string[]): string {
  const order = new DeliveryOrder<string>()
  for (const name of delivered) order.add(name, name)
  return order.messages.join(' ')
}

test('what is delivered again counts once, and what is new among it has its place there', (t) => {
  t.is(orderOf('a', 'b', 'c'), 'a b c')
  t.is(orderOf('a', 'b', 'c', 'b', 'c', 'd'), 'a b c d')
  t.is(orderOf('a', 'b', 'c', 'b', 'x', 'y', 'c', 'd'), 'a b x y c d')
  // Nothing that came before was delivered again, so this is the order of the sender.
  t.is(orderOf('a', 'c', 'b'), 'a c b')
})
