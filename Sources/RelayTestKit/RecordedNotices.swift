public import RelayCore
import Synchronization

/// Keeps the notices of a service or a journal: `EventService(…, onNotice: notices.record)`.
public final class RecordedNotices: Sendable {
    private let notices = Mutex<[Notice]>([])
    public init() {}
    public var all: [Notice] { notices.withLock { $0 } }
    public func record(_ notice: Notice) { notices.withLock { $0.append(notice) } }
    /// Those of one kind.
    public func all(of kind: Notice.Kind) -> [Notice] { all.filter { $0.kind == kind } }
}
