/// How an event's body is cut, so that pages are filled well: any event takes its body and at most 15 % and 60 bytes.
///
/// A page of 4 KiB of `relay_events` keeps up to 1,002 bytes of a row, and what is longer overflows into pages of its
/// own. A row of little more would have such a page nearly for itself, and rows that are large for a page leave its end
/// empty. So the row keeps the end of a body, with the stamp, and what is before that is in `relay_parts`, whose pages
/// are filled from end to end: as many whole pages as overflow from the first part, and small parts.
enum EventParts {
    /// A body that is not longer is in its row.
    static let whole = 384
    /// Of these, a page holds twelve.
    static let part = 324
    /// What a page takes that overflows, and what is kept of such a part beside.
    static let page = 4_092
    static let kept = 480
    /// The row has this at least.
    static let stamp = 24
    /// No event of the journal's has as many.
    static let most = 64

    /// How long the next part is; 0: what is left is the row's own.
    static func next(of left: Int, isFirst: Bool) -> Int {
        if isFirst {
            if left <= whole { return 0 }
            let pages = (left - stamp - kept) / page
            // The last page need not be full, if that is little beside all of them.
            if left > kept, (pages + 1) * (page + 4) + 600 <= left + left * 7 / 50 { return left - stamp }
            if left > kept + stamp, pages > 0 { return kept + pages * page }
        }
        return left <= part + stamp ? 0 : part
    }
    /// How many parts a body has.
    static func count(of length: Int) -> Int {
        var (count, left) = (0, length)
        while case let next = next(of: left, isFirst: count == 0), next > 0 { (count, left) = (count + 1, left - next) }
        return count
    }
}
