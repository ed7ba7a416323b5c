/// The last piece of an interface's long bodies, which the next ones fill up: as the transaction that runs has it.
final class BodyTail {
    private var piece = [UInt8](repeating: 0, count: BodyPages.size)
    /// The row that it is; nil: not read yet.
    private var row: Int64?
    private var isWritten = true

    /// Puts so much of a body behind the others, which end at `tail`. Returns where it begins.
    func add(
        _ body: UnsafeRawBufferPointer, behind tail: Int64, of interface: Int64, _ rows: BodyRows
    ) throws(SQLiteError) -> Int64 {
        let start = BodyPages.start(of: body.count, behind: tail)
        var (place, done) = (start, 0)
        while done < body.count {
            let offset = Int(place % Int64(BodyPages.size))
            try turn(to: BodyPages.row(of: place, interface), isNew: offset == 0, rows)
            let count = min(body.count - done, BodyPages.size - offset)
            let part = UnsafeRawBufferPointer(rebasing: body[done..<done + count])
            // As long as what it is copied to.
            piece.withUnsafeMutableBytes { $0[offset..<offset + count].copyBytes(from: part) }
            isWritten = false
            (place, done) = (place + Int64(count), done + count)
        }
        return start
    }
    private func turn(to next: Int64, isNew: Bool, _ rows: BodyRows) throws(SQLiteError) {
        if row == next { return }
        try write(rows)
        row = nil
        // Nothing of the piece before stays.
        piece.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) }
        if !isNew { try rows.read(next, into: &piece) }
        row = next
    }
    /// Before a commit.
    func write(_ rows: BodyRows) throws(SQLiteError) {
        guard !isWritten, let row else { return }
        try rows.write(piece, as: row)
        isWritten = true
    }
    /// After a rollback.
    func forget() { (row, isWritten) = (nil, true) }
}
