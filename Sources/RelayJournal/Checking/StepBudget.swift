import CSQLite

/// How many steps of SQLite's machine the examination of a file may take: so many for each byte. A sound file needs far
/// fewer. One whose pages refer to the same pages again and again could be read for ever.
final class StepBudget {
    /// What such a file is.
    static let fault = "reading it finds no end: its pages refer to the same pages again and again"
    /// Steps between two looks.
    private static let stride: Int32 = 20_000
    private var left: Int64
    private let isOver: () -> Bool
    /// Whether SQLite was interrupted because the budget was used up.
    var isSpent: Bool { left < 0 }

    /// - Parameters:
    ///   - size: of the file and its WAL, in bytes.
    ///   - isOver: asked now and then; with true SQLite is interrupted, too.
    init(size: Int, isOver: @escaping () -> Bool = { false }) {
        left = Int64(min(size, 1 << 50)) * 32 + 2_000_000
        self.isOver = isOver
    }
    /// Counts the steps of a connection while `body` runs.
    func watch<Result>(_ database: Database, _ body: () throws -> Result) rethrows -> Result {
        // Unretained: taken back before this returns.
        sqlite3_progress_handler(
            database.handle, Self.stride,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StepBudget>.fromOpaque(context).takeUnretainedValue().spend() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(database.handle, 0, nil, nil) }
        return try body()
    }
    private func spend() -> Bool {
        left -= Int64(Self.stride)
        return left < 0 || isOver()
    }
}
