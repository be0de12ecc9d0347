import { type DatabaseConnection, type Driver, PostgresDialect } from 'kysely'

/**
 * PostgreSQL dialect for queries that are cancelled when their caller hangs up. By default Kysely prints the error of
 * such a query to the console. Here it is dropped, since the cancellation was requested.
 */
export class CancellingDialect extends PostgresDialect {
  readonly #known = new WeakSet<DatabaseConnection>()

  override createDriver(): Driver {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async (options) => {
      const connection = await acquire(options)
      if (!this.#known.has(connection)) leaveQuietly(connection)
      this.#known.add(connection)
      return connection
    }
    return driver
  }
}

/** Drops errors of a query whose caller is gone, and errors of cancelling it. Other errors are thrown as before. */
function leaveQuietly(connection: DatabaseConnection): void {
  const execute = connection.executeQuery.bind(connection)
  connection.executeQuery = async (query, options) => {
    try {
      return await execute(query, options)
    } catch (error) {
      if (options?.signal?.aborted !== true) throw error
      return { rows: [] }
    }
  }
  const cancel = connection.cancelQuery?.bind(connection)
  if (cancel === undefined) return
  // Kysely fails if the query ended while the cancelling connection was opened. Then there is nothing left to cancel.
  connection.cancelQuery = async (provider) => {
    await cancel(provider).catch(() => undefined)
  }
}
