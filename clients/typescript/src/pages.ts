/** A page of a list: `nextPageToken` is left out on the last one. */
interface Page {
  readonly nextPageToken?: string;
}

/**
 * Every item of a list that comes in pages:
 *
 *     for await (const term of paginate((page) => client.operations.listGlossaryTerms(page), (page) => page.terms)) …
 */
export async function* paginate<P extends Page, Item>(
  fetchPage: (page: { pageToken?: string }) => Promise<P>,
  items: (page: P) => readonly Item[],
): AsyncGenerator<Item> {
  let pageToken: string | undefined;
  do {
    const page: P = await fetchPage(pageToken === undefined ? {} : { pageToken });
    yield* items(page);
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
}
