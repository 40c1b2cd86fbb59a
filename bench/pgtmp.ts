import { newPostgresDatabase } from '../test/helpers/postgres.ts'
const d = await newPostgresDatabase()
console.log(d.url)
setTimeout(() => process.exit(0), 45 * 60_000)
