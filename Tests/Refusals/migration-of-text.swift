// expect: a statement is an SQL
import RelayCore
import RelayJournal
let statement = "CREATE TABLE doors (side TEXT NOT NULL)"
let doors = Migration("doors", statement)
