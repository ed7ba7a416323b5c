/// A read of the domain's tables, without its result's type.
protocol SnapshotBody: AnyObject, Sendable {
    /// Runs the closure, once. Throws what it throws.
    func run(in snapshot: inout JournalSnapshot) throws
    /// Lets the caller go on, with the closure's result, or with the error.
    func finish(_ failure: (any Error)?)
}

final class SnapshotWork<Result>: AwaitedWork<Result>, SnapshotBody, @unchecked Sendable {
    private var body: ((inout JournalSnapshot) throws -> sending Result)?

    init(_ body: sending @escaping (inout JournalSnapshot) throws -> sending Result) { self.body = body }

    func run(in snapshot: inout JournalSnapshot) throws {
        guard let body else { return }
        // What it captured is released here, before the caller goes on.
        self.body = nil
        result = try body(&snapshot)
    }
}
