/// Where long bodies are: each interface's one behind the other, as if in one file without an end, of which each row of
/// `relay_bodies` has a piece. So an event of any size takes its body and at most 15 % and 60 bytes.
///
/// A page of 4 KiB of `relay_events` keeps up to 1,002 bytes of a row, and what is longer overflows into pages of its
/// own; and rows that are large for a page leave its end empty. A piece is as long as fills a page by itself: no mix of
/// sizes leaves anything empty, and many events share a row that is written, read and removed.
enum BodyPages {
    /// A body that is not longer is in its event's row.
    static let whole = 384
    /// The row of a longer one has this, its end.
    static let stamp = 24
    /// A piece: with what SQLite keeps beside it, it has a page for itself, without overflow.
    static let size = 4_056
    /// The lower bits of a row's number count the interface's pieces, the others are the interface's.
    static let bits: Int64 = 43
    /// No interface's number is as high, nor the next one.
    static let interfaces: Int64 = (1 << (63 - bits)) - 1
    /// No journal's bodies reach as far, were they written at 100 MB a second for years.
    static let limit = Int64(size) << (bits - 1)

    /// Where so many bytes are put behind those that end at `tail`: at the next piece's beginning if they touch fewer
    /// pieces there, and little is left empty.
    static func start(of length: Int, behind tail: Int64) -> Int64 {
        let used = Int(tail % Int64(size))
        let room = size - used
        guard used > 0, room * 10 <= length, (used + length - 1) / size > (length - 1) / size else { return tail }
        return tail + Int64(room)
    }
    /// The number of the row that has a place. Of another program's numbers it is any.
    static func row(of place: Int64, _ interface: Int64) -> Int64 { (interface &<< bits) &+ place / Int64(size) }
}
