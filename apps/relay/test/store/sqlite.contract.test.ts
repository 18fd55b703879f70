import { openSqlite } from '../harness/sqlite-store.js'
import { storeContract } from './store-contract.js'

storeContract('SQLite', openSqlite)
