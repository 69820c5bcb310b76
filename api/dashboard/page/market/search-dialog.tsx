import { useEffect, useState } from 'preact/hooks'
import type { SearchHit } from '../../../items/search.ts'
import { Modal } from '../components/modal.tsx'
import { EmptyNotice } from '../components/query-view.tsx'
import { favouriteName } from '../data/favourite-button.tsx'
import { useFavourites } from '../data/favourites.ts'
import { shortAddress } from '../data/format.ts'
import { PaidView } from '../data/paid-view.tsx'
import { directHit } from '../data/search.ts'
import { usePaidQuery } from '../data/use-paid-query.ts'
import type { SearchResponse } from '../responses.ts'

/** How many favourites are listed below the field. */
const MAX_LISTED = 10

/**
 * Finds wallets and tokens. Aliases and addresses are opened without a request; other texts are
 * sent by a button that names its price, or by Enter.
 */
export function SearchDialog({ close }: { readonly close: () => void }) {
  const [text, setText] = useState('')
  /** The text that the customer has sent by Enter. */
  const [entered, setEntered] = useState('')
  useEffect(() => {
    addEventListener('hashchange', close)
    return () => removeEventListener('hashchange', close)
  }, [])
  const q = text.trim()
  const direct = directHit(q)
  return (
    <Modal title="Search" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (direct === null) return setEntered(q)
          location.hash = direct.hash
          close()
        }}
      >
        <label for="search-text">Wallet, token name, symbol or address</label>
        <input
          id="search-text"
          type="search"
          autoComplete="off"
          spellcheck={false}
          maxLength={64}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        {direct !== null && (
          <p>
            <button type="submit" class="primary">
              Open {direct.text}
            </button>
          </p>
        )}
      </form>
      {q === '' && <FavouriteList />}
      {q !== '' && direct === null && <NameSearch key={q} q={q} isEntered={entered === q} />}
    </Modal>
  )
}

/** What a text finds. It is sent by the button, or at once if it was entered. */
function NameSearch({ q, isEntered }: { readonly q: string; readonly isEntered: boolean }) {
  const query = usePaidQuery<SearchResponse>(`/search?q=${encodeURIComponent(q)}`, 1, true)
  const { response, isLoading, load } = query
  useEffect(() => {
    if (isEntered && response === null && !isLoading) load()
  }, [isEntered])
  return (
    <PaidView query={query} what={`what “${q}” finds`}>
      {({ body: { items } }) =>
        items.length === 0 ? (
          <EmptyNotice>No wallet or token is called “{q}”.</EmptyNotice>
        ) : (
          <ul class="hits">
            {items.map((hit) => (
              <li key={hit.wallet ?? hit.token?.address}>
                <Hit hit={hit} />
              </li>
            ))}
          </ul>
        )
      }
    </PaidView>
  )
}

function Hit({ hit: { wallet, token, holders } }: { readonly hit: SearchHit }) {
  if (token === null) return <a href={`#/wallets/${wallet}`}>Wallet {wallet}</a>
  return (
    <a href={`#/tokens/${token.address}`} title={token.address}>
      <strong>{token.symbol ?? shortAddress(token.address)}</strong> {token.name}{' '}
      <small>
        {shortAddress(token.address)}, {holders} {holders === 1 ? 'holder' : 'holders'}
      </small>
    </a>
  )
}

function FavouriteList() {
  const [favourites] = useFavourites()
  if (favourites.length === 0)
    return (
      <p class="about">
        The star beside a wallet or a token makes it a favourite. Favourites are listed here and
        kept in this browser.
      </p>
    )
  return (
    <>
      <h3>Favourites</h3>
      <ul class="hits">
        {favourites.slice(0, MAX_LISTED).map((favourite) => (
          <li key={favourite.id}>
            <a href={`#/${favourite.kind}s/${favourite.id}`} title={favourite.id}>
              {favouriteName(favourite)}
            </a>
          </li>
        ))}
      </ul>
      <p>
        <a href="#/favourites">All favourites ({favourites.length})</a>
      </p>
    </>
  )
}
