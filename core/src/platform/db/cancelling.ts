import { type DatabaseConnection, type Driver, PostgresDialect } from 'kysely'

/**
 * PostgreSQL for queries that are cancelled when their caller hangs up. Kysely writes to the console what becomes of a query
 * that nobody waits for any more; here that is nothing: being cancelled is what was asked of it.
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

/** An error of a query whose caller is gone reaches nobody, nor does one of cancelling it; every other is thrown as before. */
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
  // Kysely fails on a query that ended while the cancelling connection was opened: then nothing is left to cancel.
  connection.cancelQuery = async (provider) => {
    await cancel(provider).catch(() => undefined)
  }
}
