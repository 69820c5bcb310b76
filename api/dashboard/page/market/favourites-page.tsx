import { PageLayout } from '../components/page-layout.tsx'
import { EmptyNotice } from '../components/query-view.tsx'
import { FavouriteButton, favouriteName } from '../data/favourite-button.tsx'
import { type Favourite, MAX_FAVOURITES, useFavourites } from '../data/favourites.ts'

/** The wallets and tokens that the customer marked. */
export function FavouritesPage() {
  const [favourites] = useFavourites()
  return (
    <PageLayout
      title="Favourites"
      about={`Wallets and tokens that you marked with a star, newest first. They are kept in this browser alone, at most ${MAX_FAVOURITES}.`}
    >
      {favourites.length === 0 && (
        <EmptyNotice>
          You have no favourites yet. Click the star beside a wallet.{' '}
          <a href="#/wallets">See all wallets</a>
        </EmptyNotice>
      )}
      <FavouriteList title="Wallets" list={favourites.filter(({ kind }) => kind === 'wallet')} />
      <FavouriteList title="Tokens" list={favourites.filter(({ kind }) => kind === 'token')} />
    </PageLayout>
  )
}

function FavouriteList({ title, list }: { title: string; list: readonly Favourite[] }) {
  if (list.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul class="hits">
        {list.map((favourite) => (
          <li key={favourite.id}>
            <FavouriteButton favourite={favourite} />
            <a href={`#/${favourite.kind}s/${favourite.id}`} title={favourite.id}>
              {favouriteName(favourite)}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
