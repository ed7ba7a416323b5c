// expect: no column can hold this type: conform it to SQLStorable
import RelayCore
import RelayJournal
enum Side: String, Codable { case left, right }
func turn(_ unit: inout UnitOfWork) throws { try unit.execute("UPDATE doors SET side = \(Side.left)") }
